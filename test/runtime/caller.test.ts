import { expect, test } from "vitest";
import { createCaller, createOpeningCaller } from "../../src/runtime/caller.ts";
import { memorySkillset } from "../acp/memory-skillset.ts";

const { catalog } = memorySkillset().openSession({});
const session = { catalog, directory: "/project", identity: { device: "1", inode: "2" } };

test("passes the session's skills and directory to the caller", () => {
  expect(createCaller(session, { transport: "acp", sessionId: "s", agent: "an agent" })).toEqual({
    transport: "acp",
    owner: expect.stringMatching(/^session:s@[0-9a-f]{16}$/) as string,
    sessionId: "s",
    label: "an agent",
    skills: catalog,
    project: "/project",
    projectIdentity: session.identity,
  });
});

test("derives the owner from session id, agent and directory, and uses local without an id", () => {
  const ownerOf = (facts: object, directory = "/project"): string =>
    createCaller({ ...session, directory }, { transport: "acp", sessionId: "s", agent: "an agent", ...facts }).owner;
  const owners = [ownerOf({}), ownerOf({ agent: "another" }), ownerOf({ sessionId: "t" }), ownerOf({}, "/elsewhere")];
  expect(new Set(owners).size).toBe(owners.length);
  expect(ownerOf({})).toBe(owners[0]);
  expect(ownerOf({ sessionId: undefined })).toBe("local");
  expect(ownerOf({ owner: "me" })).toBe("me");
});

test("gives a caller without a session id a temporary owner until the id is known", () => {
  const { caller, begin } = createOpeningCaller(session, { transport: "mcp", agent: "an agent" });
  expect(caller.sessionId).toBeUndefined();
  expect(caller.owner).toMatch(/^opening:/);
  begin("s");
  const known = createCaller(session, { transport: "mcp", sessionId: "s", agent: "an agent" });
  expect({ ...caller }).toEqual(known);
});
