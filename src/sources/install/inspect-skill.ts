import path from "node:path";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import { directoryName } from "../lock.ts";
import { type Capabilities, permissionsOf, permissionWords } from "../../skills/permissions.ts";
import { isScript } from "../../skills/skill.ts";
import { checkFiles } from "../../skills/check.ts";
import { describeDemand, readFileRequirements, statedRequirements } from "../../skills/environment.ts";
import { memorySkillSource } from "../../skills/files.ts";
import { createSkillHasher } from "../../skills/hash.ts";
import type { Level, Problem } from "../../skills/rules.ts";
import type { SkillFile } from "../reader.ts";

/** What a skill from elsewhere is and wants, read from its files before they are installed. */
export interface InspectedSkill {
  /** As its source names it: its directory, and its key in the lock. */
  readonly key: string;
  /** As agents are offered it, by what its own files say. */
  readonly slug: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly digest: string;
  readonly wants: Capabilities;
  /** Tools of the agent that it lists: shown, never granted. */
  readonly expects: readonly string[];
  /** Paths of files that `execute_skill` can run. */
  readonly scripts: readonly string[];
  /** What it needs of the machine, in words. */
  readonly requires: readonly string[];
  /** Errors and warnings of `acp-skills check` at a level; the files are relative to the skill. */
  readonly problems: readonly Problem[];
}

/** What is said of a skill whose own files name it otherwise than its source does, which may put words before a name that others have. */
export function renameWords({ key, slug }: Pick<InspectedSkill, "key" | "slug">): string | undefined {
  if (key === slug || key.endsWith(`-${slug}`)) return undefined;
  return `its own files name it ${slug}, and agents are offered it as ${slug}`;
}

/** Reads and validates a skill as it would be where it is installed. Throws SOURCE_INVALID if no agent would be offered it. */
export async function inspectSkill(
  files: readonly SkillFile[],
  key: string,
  level: Level = "agents",
): Promise<InspectedSkill> {
  const directory = path.resolve("/", "skills", directoryName(key));
  const { skill, problems } = await checkFiles(directory, files, level);
  if (skill === undefined) {
    const error = problems.find(({ severity }) => severity === "error");
    throw invalid(error?.message ?? "it has no SKILL.md");
  }
  const source = memorySkillSource(directory, files);
  const hashed = await createSkillHasher()
    .hash(source, directory, new AbortController().signal)
    .catch((error: unknown) => {
      throw isSkillsError(error) ? invalid(error.message.replace(directory, key)) : error;
    });
  if (hashed.digest === undefined) throw new SkillsError("SOURCE_INVALID", "it has too many files");
  const requirements = [...statedRequirements(skill), ...(await readFileRequirements(skill, source))];
  return {
    key,
    slug: skill.slug,
    name: skill.name,
    version: skill.version,
    description: skill.description,
    digest: hashed.digest,
    wants: permissionsOf(skill),
    expects: skill.allowedTools ?? [],
    scripts: skill.dialect === "agent-skills" ? hashed.files.map((file) => file.path).filter(isScript) : [],
    requires: [...new Set(requirements.map(describeDemand))],
    problems: problems
      .filter(({ severity }) => severity !== "note")
      .map((problem) => ({ ...problem, file: path.relative(directory, problem.file) })),
  };
}

function invalid(why: string): SkillsError {
  return new SkillsError("SOURCE_INVALID", `no agent can use it: ${why}`);
}

/** Each permission, and each of the agent's tools that the skill's author expects. */
export function wantedWords({ wants, expects }: Pick<InspectedSkill, "wants" | "expects">): readonly string[] {
  return [...permissionWords(wants), ...expects.map((tool) => `the agent's tool ${tool}`)];
}
