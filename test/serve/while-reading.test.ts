import { afterEach, expect, test } from "vitest";
import { createDeferred } from "../../src/base/promises.ts";
import { type OpenHttp, openHttp } from "./open-http.ts";

const skills = { "/skills/alpha/SKILL.md": "---\nname: alpha\ndescription: Does alpha.\n---\n# Alpha\n" };

let http: OpenHttp | undefined;
afterEach(async () => {
  await http?.close();
});

test.for([
  "/.well-known/agent-skills/index.json",
  "/.well-known/skill-sharing",
  "/.well-known/skill-sharing?limit=5",
  "/skills",
  "/skills/alpha/descriptor.json",
  "/marketplace.json",
])("what says which skills there are waits until they were read: %s", async (path) => {
  const { promise: reading, resolve: read } = createDeferred();
  http = await openHttp({ skills, reading });
  let isAnswered = false;
  const asked = http.get(path).then(async (answer) => {
    isAnswered = true;
    return { status: answer.status, text: await answer.text() };
  });
  // Other requests pass it meanwhile.
  expect((await http.get("/readyz")).status).toBe(503);
  expect((await http.get("/metrics")).status).toBe(200);
  expect((await http.get("/openapi.json")).status).toBe(200);
  expect(isAnswered).toBe(false);
  read();
  expect(await asked).toEqual({ status: 200, text: expect.stringContaining("alpha") as string });
});
