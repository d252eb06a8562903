import { expect, test } from "vitest";
import { matchRequirement, summarise } from "../../../src/skills/environment/match-requirement.ts";
import { readDeclared } from "../../../src/skills/environment/read-declared.ts";
import { type Demand, type Requirement, describeDemand } from "../../../src/skills/environment/requirement.ts";
import { type MemoryMachineOptions, memoryMachine } from "./memory-machine.ts";
import type { EnvironmentProbes, Match } from "../../../src/skills/environment.ts";

const where = { file: "SKILL.md", field: "compatibility", text: "" };

const declared = (demand: Demand): Requirement => ({ ...demand, certainty: "declared", where });

async function match(values: Parameters<typeof readDeclared>[0], machine: MemoryMachineOptions = {}) {
  const opened = memoryMachine(machine);
  return await Promise.all((readDeclared(values) ?? []).map((one) => matchRequirement(one, { machine: opened })));
}
const say = (matches: readonly Match[]): string[] => matches.map(({ status, evidence }) => `${status}: ${evidence}`);
const programs = (...bins: string[]) => ({ requires: { bins } });

test.each([
  ["git", { git: {} }, "met: /usr/bin/git"],
  ["git", {}, "missing: git is not on PATH"],
  ["git", { git: { isPlaceholder: true as const } }, "unknown: /usr/bin/git may only offer to install it"],
  ["python3>=3.10", { python3: {} }, "unknown: stated in words, not checked"],
])("%s, on a machine with %j: %s", async (bin, found, expected) => {
  expect(say(await match(programs(bin), { programs: found }))).toEqual([expected]);
});

test("one of several programs suffices, and so does any command of a program", async () => {
  const either = { requires: { anyBins: ["docker", "podman"] } };
  expect(say(await match(either, { programs: { podman: {} } }))).toEqual(["met: /usr/bin/podman"]);
  expect(say(await match(either))).toEqual(["missing: none of docker, podman is on PATH"]);
  const python = declared({ kind: "program", anyOf: [{ name: "Python", commands: ["python3", "python"] }] });
  const machine = memoryMachine({ programs: { python3: { isPlaceholder: true }, python: {} } });
  expect(say([await matchRequirement(python, { machine })])).toEqual(["met: /usr/bin/python"]);
  expect(await matchRequirement(python, { machine: memoryMachine() })).toMatchObject({ advice: "Install Python." });
});

test("a system is compared; one without a name that skills use is unknown", async () => {
  expect(say(await match({ os: "linux" }))).toEqual(["met: this is Linux"]);
  expect(say(await match({ os: "macos" }))).toEqual(["missing: this is Linux"]);
  expect(say(await match({ os: "macos" }, { system: undefined }))).toEqual(["unknown: this system has another name"]);
});

test("network access is never reported as met or missing", async () => {
  const demand = declared({ kind: "network", hosts: ["a.example"] });
  const [found] = say([await matchRequirement(demand, { machine: memoryMachine() })]);
  expect(found).toMatch(/^unknown: not tested/);
});

test("a variable that is not set is unknown, because the agent may get it elsewhere", async () => {
  const key = { requires: { env: ["A_KEY"] } };
  expect(say(await match(key))).toEqual([expect.stringMatching(/^unknown: not set/)]);
  expect(say(await match(key, { variables: ["A_KEY"] }))).toEqual(["met: set in this environment"]);
});

test("what is stated in words is not checked, even if the program that it names is there", async () => {
  const words = { requires: "git" };
  const found = await match(words, { programs: { git: {} } });
  expect(say(found)).toEqual(["unknown: stated in words, not checked"]);
  expect(summarise(found)).toEqual({ status: "unknown", missing: [] });
});

const weak = { tier: "landlock", lacks: { "network access": "No network." }, remedy: "Get bubblewrap." };

test("a sandbox that does not support what a skill needs is named with what it is without, and what would help", async () => {
  const demand = declared({ kind: "sandbox", needs: ["project access", "network access"] });
  const surroundings = { machine: memoryMachine(), findSandbox: () => Promise.resolve(weak) };
  const expected = { evidence: "landlock, without network access", advice: "Get bubblewrap." };
  expect(await matchRequirement(demand, surroundings)).toMatchObject({ status: "missing", ...expected });
  expect(describeDemand(demand)).toBe("a sandbox with project access and network access");
  // An agent may run a script itself.
  const likely = { ...demand, certainty: "likely" as const };
  expect(await matchRequirement(likely, surroundings)).toMatchObject({ status: "unknown", ...expected });
});

test.each<[Demand, Partial<EnvironmentProbes>, string]>([
  [{ kind: "secret", secret: "KEY" }, { hasSecret: () => Promise.resolve(true) }, "met"],
  [{ kind: "secret", secret: "KEY" }, { hasSecret: () => Promise.resolve(false) }, "missing"],
  [{ kind: "secret", secret: "KEY" }, {}, "unknown"],
  [{ kind: "skill", skill: "a.b@^1" }, { findSkill: () => "1.2.0" }, "met"],
  [{ kind: "skill", skill: "a.b@^1" }, { findSkill: () => undefined }, "missing"],
  [{ kind: "skill", skill: "a.b@^1" }, {}, "unknown"],
  [{ kind: "packages", packages: ["x"] }, { hasPackages: () => Promise.resolve(true) }, "met"],
  [{ kind: "packages", packages: ["x"] }, { hasPackages: () => Promise.resolve(false) }, "missing"],
  [{ kind: "packages", packages: ["x"] }, {}, "unknown"],
  [{ kind: "sandbox", needs: [] }, { findSandbox: () => Promise.resolve(weak) }, "met"],
  [{ kind: "sandbox", needs: ["project access"] }, { findSandbox: () => Promise.resolve(weak) }, "met"],
  [{ kind: "sandbox", needs: ["network access"] }, { findSandbox: () => Promise.resolve(weak) }, "missing"],
  [{ kind: "sandbox", needs: [] }, { findSandbox: () => Promise.resolve({ reason: "no" }) }, "missing"],
  [{ kind: "sandbox", needs: [] }, {}, "unknown"],
  [{ kind: "text" }, {}, "unknown"],
])("%j with what the caller finds out: %#", async (demand, surroundings, status) => {
  const matched = await matchRequirement(declared(demand), { machine: memoryMachine(), ...surroundings });
  expect(matched.status).toBe(status);
  expect(matched.advice === undefined).toBe(status !== "missing");
});

test("a summary is met only if all is, and names what is missing", async () => {
  const machine = { programs: { jq: {} } };
  const summary = async (values: Parameters<typeof readDeclared>[0]) => summarise(await match(values, machine));
  expect(await summary(programs("git", "uv", "jq"))).toEqual({
    status: "missing",
    missing: ["git", "uv"],
  });
  expect(await summary(programs("jq"))).toEqual({ status: "met", missing: [] });
  expect(await summary({ requires: { bins: ["jq"], env: ["A_KEY"] } })).toEqual({ status: "unknown", missing: [] });
  expect(await summary({ ...programs("jq"), prerequisites: "a token" })).toEqual({ status: "unknown", missing: [] });
  expect(await summary({})).toBeUndefined();
});
