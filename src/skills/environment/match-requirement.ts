import { type Requirement, describeDemand, systemNames } from "./requirement.ts";
import { codeRequirements, readFileRequirements, statedRequirements } from "./requirements-of.ts";
import type { SkillSource } from "../files.ts";
import type { Skill } from "../skill.ts";
import type { EnvironmentProbes, FoundSandbox, Machine, Match, Summary } from "../environment.ts";

type Finding = Omit<Match, "requirement">;

/** Matches all requirements of a skill, from its frontmatter, its manifest and its files. */
export async function matchSkill(
  skill: Skill,
  source: SkillSource,
  probes: EnvironmentProbes,
): Promise<readonly Match[]> {
  const requirements = [
    ...statedRequirements(skill),
    ...codeRequirements(skill),
    ...(await readFileRequirements(skill, source)),
  ];
  const matches: Match[] = [];
  for (const requirement of requirements) matches.push(await matchRequirement(requirement, probes));
  return matches;
}

/** Matches one requirement. Rejects only if a function of `probes` does. */
export async function matchRequirement(requirement: Requirement, probes: EnvironmentProbes): Promise<Match> {
  const finding = await find(requirement, probes);
  if (finding.status !== "missing" || requirement.certainty !== "likely") return { requirement, ...finding };
  // A requirement that is only probable is not reported as missing.
  return { requirement, ...finding, status: "unknown" };
}

async function find(requirement: Requirement, probes: EnvironmentProbes): Promise<Finding> {
  const { machine, hasSecret, findSkill, hasPackages, findSandbox } = probes;
  const unlooked = unknown("not looked into");
  switch (requirement.kind) {
    case "program":
      return findAnyProgram(requirement, machine);
    case "system": {
      if (machine.system === undefined) return unknown("this system has another name");
      const evidence = `this is ${systemNames[machine.system]}`;
      return requirement.anyOf.includes(machine.system)
        ? met(evidence)
        : missing(evidence, `Use it on ${describeDemand(requirement)}.`);
    }
    case "network":
      return unknown(
        "not tested; code that acp-skills runs has no network unless the skill requests it and it is granted",
      );
    case "variable":
      return machine.hasVariable(requirement.variable)
        ? met("set in this environment")
        : unknown("not set in this environment; the agent may get it elsewhere", `Set ${requirement.variable}.`);
    case "secret": {
      if (hasSecret === undefined) return unlooked;
      const advice = `Set ${requirement.secret} in the environment, in --secrets-file, or in the system's keychain.`;
      return (await hasSecret(requirement.secret)) ? met("configured") : missing("not configured", advice);
    }
    case "packages":
      if (hasPackages === undefined) return unlooked;
      return (await hasPackages())
        ? met("installed")
        : missing("not installed", "Run acp-skills install with the skill's name.");
    case "skill": {
      if (findSkill === undefined) return unlooked;
      const version = findSkill(requirement.skill);
      return version === undefined
        ? missing("no such skill", `Install the skill ${requirement.skill}.`)
        : met(`version ${version}`);
    }
    case "sandbox":
      return findSandbox === undefined ? unlooked : matchSandbox(requirement.needs, await findSandbox());
    case "text":
      return unknown("stated in words, not checked");
  }
}

function met(evidence: string): Finding {
  return { status: "met", evidence };
}

function missing(evidence: string, advice: string): Finding {
  return { status: "missing", evidence, advice };
}

function unknown(evidence: string, advice?: string): Finding {
  return { status: "unknown", evidence, ...(advice !== undefined && { advice }) };
}

function matchSandbox(needs: readonly string[], found: FoundSandbox): Finding {
  const doctor = "Run acp-skills doctor.";
  if ("reason" in found) return missing(found.reason, doctor);
  const lacking = needs.filter((need) => found.lacks[need] !== undefined);
  if (lacking.length === 0) return met(found.tier);
  return missing(`${found.tier}, without ${lacking.join(", ")}`, found.remedy ?? doctor);
}

/** Matches a program. Any of several programs suffices, and any command of a program. */
function findAnyProgram(requirement: Extract<Requirement, { kind: "program" }>, machine: Machine): Finding {
  const commands = requirement.anyOf.flatMap((program) => program.commands);
  const found = commands.flatMap((command) => machine.find(command) ?? []);
  const program = found.find(({ isPlaceholder }) => isPlaceholder !== true);
  if (program !== undefined) return met(program.path);
  if (found.length > 0) return unknown(found.map(({ path }) => `${path} may only offer to install it`).join("; "));
  const words = commands.length === 1 ? `${commands.join()} is not` : `none of ${commands.join(", ")} is`;
  return missing(`${words} on PATH`, `Install ${describeDemand(requirement)}.`);
}

/** Summarises matches. Undefined if nothing is required. */
export function summarise(matches: readonly Match[]): Summary | undefined {
  if (matches.length === 0) return undefined;
  const lacking = matches.filter(({ status }) => status === "missing");
  const isKnown = matches.every(({ status }) => status === "met");
  const status = lacking.length > 0 ? "missing" : isKnown ? "met" : "unknown";
  return { status, missing: lacking.map(({ requirement }) => describeDemand(requirement)) };
}
