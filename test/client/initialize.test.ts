import { expect, test } from "vitest";
import { optIn, readAdvertisement } from "../../src/client/initialize.ts";

const advertisement = { version: "1.2.3", tools: [], update: ["available_commands_update"] };

test("reads the advertisement from an initialize response of ACP v1 and v2", () => {
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
])("returns undefined without a valid advertisement: %j", (response) => {
  expect(readAdvertisement(response)).toBeUndefined();
});

test("asks for changes only, and for no commands, in both places", () => {
  const asked = { notification: true, deltas: true, commands: false };
  expect(optIn()).toEqual({ _meta: { "acp-skills": asked }, session: { skills: asked, commands: { skill: {} } } });
  expect(optIn({ commands: true }).session.skills).toEqual({ ...asked, commands: true });
});
