import { expect, test } from "vitest";
import { openEarlyCommands } from "../../../src/acp/announce/early-commands.ts";

test("the last list of a session is given once", () => {
  const early = openEarlyCommands();
  early.add("s", [1]);
  early.add("s", [2]);
  expect(early.take("s")).toEqual([2]);
  expect(early.take("s")).toBeUndefined();
});

test("sessions that never come cost no more than 64 lists, the newest", () => {
  const early = openEarlyCommands();
  for (let session = 0; session < 70; session++) early.add(String(session), [session]);
  expect([early.take("5"), early.take("6"), early.take("69")]).toEqual([undefined, [6], [69]]);
});
