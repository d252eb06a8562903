import { expect, test } from "vitest";
import { readAdvertisement } from "../../src/client/advertisement.ts";
import { skillsOptIn } from "../../src/client/opt-in.ts";

const advertisement = { version: "1.2.3", tools: [], update: ["available_commands_update"] };

test("the advertisement is read from an ACP v1 and from an ACP v2 initialize response", () => {
  const capabilities = { _meta: { "acp-skills": advertisement, other: 1 } };
  expect(readAdvertisement({ protocolVersion: 1, agentCapabilities: capabilities })).toEqual(advertisement);
  expect(readAdvertisement({ protocolVersion: 2, capabilities })).toEqual(advertisement);
});

test.each([
  undefined,
  null,
  1,
  [],
  {},
  { agentCapabilities: {} },
  { agentCapabilities: { _meta: { "acp-skills": true } } },
])("an agent without a usable advertisement has none: %j", (response) => {
  expect(readAdvertisement(response)).toBeUndefined();
});

test("the opt-in is what goes into a client's _meta", () => {
  expect({ ...skillsOptIn }).toEqual({ "acp-skills": { notification: true } });
});
