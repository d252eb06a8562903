import { expect, test } from "vitest";
import { readDeclared } from "../../src/skills/environment/read-declared.ts";
import { SkillEnvironments } from "../../src/skills/environment.ts";
import type { OfferedSkill, Skill } from "../../src/skills/skill.ts";
import { offer } from "../acp/memory-skillset.ts";
import { manualClock } from "../manual-clock.ts";
import { type MemoryMachineOptions, memoryMachine } from "./environment/memory-machine.ts";

function open(machine: MemoryMachineOptions = {}) {
  const clock = manualClock();
  const logged: string[] = [];
  const machines: ReturnType<typeof memoryMachine>[] = [];
  let told = 0;
  const environments = new SkillEnvironments({
    clock,
    log: (_level, message) => logged.push(message),
    openMachine() {
      machines.push(memoryMachine(machine));
      return machines.at(-1)!;
    },
  });
  environments.onKnown((isMissing) => (told += isMissing ? 1 : 0));
  return { environments, clock, machines, logged, told: () => told };
}

const asking = (bin: string, name = "a"): OfferedSkill =>
  offer(name, { requires: readDeclared({ requires: { bins: [bin] } })! });
const known = async (environments: SkillEnvironments, skill: Skill) => {
  for (let turn = 0; turn < 20 && environments.of(skill) === undefined; turn++)
    await new Promise((resolve) => setImmediate(resolve));
  return environments.of(skill);
};

test("a skill that asks for nothing costs nothing: no machine is opened", async () => {
  const { environments, machines, told } = open();
  environments.prepare([offer("a"), offer("b")]);
  expect(await known(environments, offer("a").skill)).toBeUndefined();
  expect({ machines, told: told() }).toEqual({ machines: [], told: 0 });
});

test("looks nothing up while it is asked, and says nothing until it knows", async () => {
  const { environments, machines } = open({ programs: { git: {} } });
  const { skill } = asking("git");
  expect(environments.of(skill)).toBeUndefined();
  expect(machines).toEqual([]);
  expect(await known(environments, skill)).toEqual({ status: "met", missing: [] });
});

test("notifies its listeners once, and only if something is missing", async () => {
  const { environments, told } = open({ programs: { git: {} } });
  const skills = [asking("git", "a"), offer("b", { compatibility: "Requires docker" })];
  environments.prepare(skills);
  for (const { skill } of skills) await known(environments, skill);
  expect(told()).toBe(0);
  const more = [asking("docker", "c"), asking("podman", "d")];
  environments.prepare(more);
  for (const { skill } of more) await known(environments, skill);
  expect(told()).toBe(1);
  expect(environments.of(more[0]!.skill)).toEqual({ status: "missing", missing: ["docker"] });
});

test("looks for what many skills ask for once, and knows an edited skill at once", async () => {
  const { environments, machines } = open({ programs: { git: {} } });
  const skills = Array.from({ length: 1000 }, (_, index) => asking("git", `s${index}`));
  environments.prepare(skills);
  const first = await known(environments, skills[0]!.skill);
  expect(machines[0]?.looked).toEqual(["git"]);
  const edited = offer("s0", { requires: skills[0]!.skill.requires!, description: "Other." });
  expect(environments.of(edited.skill)).toBe(first);
});

test("a sentence is not checked: unknown, whatever it says, and no program is looked for", async () => {
  const { environments, machines } = open({ programs: { git: {} } });
  for (const compatibility of ["Requires git", "Requires docker", "Cross-platform"])
    expect(await known(environments, offer("a", { compatibility }).skill)).toEqual({ status: "unknown", missing: [] });
  expect(machines.flatMap(({ looked }) => looked)).toEqual([]);
});

test("looks again for what was missing when skills are prepared a minute later", async () => {
  const programs: Record<string, object> = {};
  const { environments, clock } = open({ programs });
  const skills = [asking("git")];
  environments.prepare(skills);
  expect((await known(environments, skills[0]!.skill))?.status).toBe("missing");
  programs["git"] = {};
  clock.pass(59_999);
  environments.prepare(skills);
  expect(environments.of(skills[0]!.skill)?.status).toBe("missing");
  clock.pass(1);
  environments.prepare(skills);
  expect((await known(environments, skills[0]!.skill))?.status).toBe("met");
});

test("gives other work a turn before it starts, and stops when it is closed", async () => {
  const { environments, machines, told } = open();
  const skills = Array.from({ length: 100 }, (_, index) => asking(`p${index}`, `s${index}`));
  environments.prepare(skills);
  environments.close();
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect({ machines, told: told() }).toEqual({ machines: [], told: 0 });
});

test("logs a failure, and nobody else notices it", async () => {
  const logged: string[] = [];
  const environments = new SkillEnvironments({
    clock: manualClock(),
    log: (_level, message) => logged.push(message),
    openMachine() {
      throw new Error("no machine");
    },
  });
  expect(await known(environments, asking("git").skill)).toBeUndefined();
  expect(logged).toEqual(["What skills require of this machine is not known: Error: no machine"]);
});

test("is silent about the skills beyond its limit", async () => {
  const { environments } = open();
  const skills = Array.from({ length: 5001 }, (_, index) => asking(`p${index}`, `s${index}`));
  environments.prepare(skills);
  expect((await known(environments, skills[4999]!.skill))?.status).toBe("missing");
  expect(environments.of(skills[5000]!.skill)).toBeUndefined();
});

test("a skill whose permissions not every sandbox supports is matched with the one that is there, which others do not open", async () => {
  let opened = 0;
  const environments = new SkillEnvironments({
    clock: manualClock(),
    log: () => undefined,
    openMachine: () => memoryMachine(),
    findSandbox() {
      opened++;
      return Promise.resolve({ tier: "landlock", lacks: { "network access": "It has no network." } });
    },
  });
  const needing = (permission: string) => offer("a", { metadata: permission === "" ? {} : { [permission]: "read" } });
  expect(await known(environments, needing("").skill)).toBeUndefined();
  expect(opened).toBe(0);
  expect(await known(environments, needing("acp-skills-project").skill)).toEqual({ status: "met", missing: [] });
  const network = offer("b", { metadata: { "acp-skills-network": "https://a.example" } }).skill;
  const missing = ["a sandbox with network access"];
  expect(await known(environments, network)).toEqual({ status: "missing", missing });
});
