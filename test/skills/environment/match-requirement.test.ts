import { expect, test } from "vitest";
import { matchRequirement, summarise } from "../../../src/skills/environment/match-requirement.ts";
import { readText } from "../../../src/skills/environment/read-text.ts";
import { type Demand, type Requirement, describeDemand } from "../../../src/skills/environment/requirement.ts";
import { type MemoryMachineOptions, memoryMachine } from "./memory-machine.ts";
import type { EnvironmentProbes } from "../../../src/skills/environment.ts";

const where = { file: "SKILL.md", field: "compatibility", text: "" };

async function match(text: string, machine: MemoryMachineOptions = {}): Promise<string[]> {
  const opened = memoryMachine(machine);
  const found: string[] = [];
  for (const requirement of readText(text, where)) {
    const { status, evidence } = await matchRequirement(requirement, { machine: opened });
    found.push(`${status}: ${evidence}`);
  }
  return found;
}

test.each([
  ["Requires git", { git: "2.39.5" }, "met: /usr/bin/git"],
  ["Requires git", {}, "missing: git is not on PATH"],
  ["Requires Python 3.10+", { python3: "3.11.2" }, "met: 3.11.2 at /usr/bin/python3"],
  ["Requires Python 3.10+", { python3: "3.9.2" }, "missing: 3.9.2 at /usr/bin/python3, not >=3.10"],
  ["Requires Python 3.10+", { python3: "3.9.2", python: "3.12.0" }, "met: 3.12.0 at /usr/bin/python"],
  [
    "Requires Python 3.10+",
    { python3: { reason: "why" } },
    "unknown: /usr/bin/python3 is there, but its version is not known: why",
  ],
  [
    "Requires Python 3.10",
    { python3: "3.11.2" },
    "unknown: 3.11.2 at /usr/bin/python3 is newer than the 3.10 that is named",
  ],
  [
    "Requires Python 3.10+",
    { python3: { isShim: true as const } },
    "unknown: /usr/bin/python3 is there, but its version is not known: it does not print one",
  ],
  ["Requires git", { git: { isPlaceholder: true as const } }, "unknown: /usr/bin/git may only offer to install it"],
  ["Requires docker or podman", { podman: "5.0.0" }, "met: /usr/bin/podman"],
  ["Requires docker or podman", {}, "missing: docker is not on PATH; podman is not on PATH"],
  ["Requires the frob CLI", {}, "unknown: frob is not on PATH; it may have another name"],
  ["Requires the frob CLI", { frob: "1.0.0" }, "met: /usr/bin/frob"],
  ["git", {}, "unknown: git is not on PATH; it may have another name"],
  ["Requires Linux", {}, "met: this is Linux"],
  ["macOS only", {}, "missing: this is Linux"],
])("%s, on a machine with %j: %s", async (text, programs, expected) => {
  expect(await match(text, { programs })).toEqual([expected]);
});

test("a system without a name that skills use is unknown", async () => {
  expect(await match("macOS only", { system: undefined })).toEqual(["unknown: this system has another name"]);
});

test("network access is never reported as met or missing", async () => {
  const [found] = await match("Requires network access");
  expect(found).toMatch(/^unknown: not tested/);
});

test("a variable that is not set is unknown, because the agent may get it elsewhere", async () => {
  expect(await match("A_KEY required")).toEqual([expect.stringMatching(/^unknown: not set/)]);
  expect(await match("A_KEY required", { variables: ["A_KEY"] })).toEqual(["met: set in this environment"]);
});

const declared = (demand: Demand): Requirement => ({ ...demand, certainty: "declared", where });

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

test("a summary names what is missing, and leaves out what is optional", async () => {
  const machine = memoryMachine({ programs: { jq: "1.6" } });
  const summary = async (text: string) =>
    summarise(await Promise.all(readText(text, where).map((one) => matchRequirement(one, { machine }))));
  expect(await summary("Requires git, Python 3.10+ and jq")).toEqual({
    status: "missing",
    missing: ["Git", "Python >=3.10"],
  });
  expect(await summary("Requires jq")).toEqual({ status: "met", missing: [] });
  expect(await summary("Requires jq and network access")).toEqual({ status: "unknown", missing: [] });
  expect(await summary("Requires jq. Optional: git")).toEqual({ status: "met", missing: [] });
  expect(await summary("Optional: git")).toBeUndefined();
  expect(await summary("Cross-platform")).toBeUndefined();
});
