import { expect, expectTypeOf, test } from "vitest";
import type { AgentApp, AgentConnection, AgentConnector, Stream } from "@agentclientprotocol/sdk";
import type { AgentSideConnection, ndJsonStream } from "@zed-industries/agent-client-protocol";
import * as acpSkills from "../src/index.ts";

test("exports exactly this list", () => {
  expect(Object.keys(acpSkills).sort()).toEqual([
    "SkillsError",
    "checkSkills",
    "isSkillsError",
    "observeSkills",
    "openSkills",
    "optIn",
    "readAdvertisement",
    "readSkillsDelta",
    "readSkillsUpdate",
    "withSkills",
    "wrapCommand",
    "wrapStream",
  ]);
});

test("accepts the types of both major versions of the SDK", () => {
  const wrapAny = (agent: AgentConnector): AgentConnector => acpSkills.withSkills(agent);
  const connect = (agent: AgentApp, stream: Stream): AgentConnection => acpSkills.withSkills(agent).connect(stream);
  const wrapNew = (stream: Stream): Stream => acpSkills.wrapStream(stream);
  const observeNew = (stream: Stream): Stream => acpSkills.observeSkills(stream, () => undefined);
  const wrapOld = (stream: ReturnType<typeof ndJsonStream>): ConstructorParameters<typeof AgentSideConnection>[1] =>
    acpSkills.wrapStream(stream);
  expect([wrapAny, connect, wrapNew, observeNew, wrapOld]).toHaveLength(5);
});

test("recognises an error from another copy of the package by its brand", () => {
  const error = new acpSkills.SkillsError("UNREADABLE", "closed", { cause: 1, facts: { a: 1 } });
  expect(acpSkills.isSkillsError(error)).toBe(true);
  expect(acpSkills.isSkillsError({ [Symbol.for("acp-skills.error")]: true })).toBe(true);
  expect(acpSkills.isSkillsError(new Error("UNREADABLE"))).toBe(false);
  expect(acpSkills.isSkillsError(undefined)).toBe(false);
  expect(error).toMatchObject({ code: "UNREADABLE", cause: 1, facts: { a: 1 } });
});

test("narrows an error to one code, whose facts are typed", () => {
  const error: unknown = new acpSkills.SkillsError("INVALID_OPTIONS", "Unknown option.", { facts: { option: "skil" } });
  expect(acpSkills.isSkillsError(error, "CLOSED")).toBe(false);
  if (!acpSkills.isSkillsError(error, "INVALID_OPTIONS")) throw new Error("It is not recognised.");
  expectTypeOf(error.facts.option).toEqualTypeOf<string | undefined>();
  expectTypeOf(error.facts["another"]).toEqualTypeOf<unknown>();
  expect(error.facts.option).toBe("skil");
});
