import path from "node:path";
import { shortList } from "../../base/text/code-points.ts";
import { nearest } from "../../base/text/nearest.ts";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import { lockedSource } from "../lock/locked-source.ts";
import { type LockEntry, type LockForm, computedHash, directoryName, fileDigests } from "../lock.ts";
import { inParallel } from "../../base/promises.ts";
import { type Capabilities, permissionsOf, permissionWords } from "../../skills/permissions.ts";
import { isScript } from "../../skills/skill.ts";
import { checkFiles } from "../../skills/check.ts";
import { describeDemand, readFileRequirements, statedRequirements } from "../../skills/environment.ts";
import { memorySkillSource } from "../../skills/files.ts";
import { createSkillHasher } from "../../skills/hash.ts";
import type { Level, Problem } from "../../skills/rules.ts";
import type { RemoteIndex, RemoteSkill, SkillFile, SourceReader } from "../reader.ts";
import type { Source } from "../source.ts";

/** A skill of a source, downloaded and validated. */
export interface Downloaded {
  readonly remote: RemoteSkill;
  readonly files: readonly SkillFile[];
  readonly inspected: InspectedSkill;
}

const downloadsAtOnce = 4;

/** The skills of these names. Throws SKILL_NOT_FOUND with the nearest names. */
export function chooseSkills({ source, skills }: RemoteIndex, names: readonly string[]): readonly RemoteSkill[] {
  return [...new Set(names)].map((name) => {
    const found = skills.find((skill) => skill.name === name) ?? skills.find(({ id }) => id === name);
    if (found !== undefined) return found;
    const offered = skills.map((skill) => skill.name);
    const close = nearest(name, offered, { count: 3 });
    const all = offered.length === 0 ? "it offers no skills" : `it offers ${shortList(offered, 10)}`;
    const advice = close.length === 0 ? all : `did you mean ${close.join(" or ")}?`;
    throw new SkillsError("SKILL_NOT_FOUND", `${source.label} does not offer ${name}; ${advice}`);
  });
}

export interface Downloading {
  readonly reader: SourceReader;
  /** One with an error at this level of `acp-skills check` is refused; default: only what no agent would be offered is. */
  readonly level?: Level | undefined;
  readonly signal: AbortSignal;
}

/** Downloads and validates a skill. What is wrong with it is `why`, a sentence without its name. */
export async function download(
  remote: RemoteSkill,
  { reader, level, signal }: Downloading,
): Promise<Downloaded | { readonly remote: RemoteSkill; readonly why: string }> {
  try {
    if (remote.content.type === "unusable") return { remote, why: remote.content.why };
    const files = await reader.skillFiles(remote, signal);
    const inspected = await inspectSkill(files, remote.name, level);
    const error = level === undefined ? undefined : inspected.problems.find(({ severity }) => severity === "error");
    if (error === undefined) return { remote, files, inspected };
    return { remote, why: `acp-skills check --level ${level} reports ${error.code}: ${error.message}` };
  } catch (error) {
    signal.throwIfAborted();
    if (isSkillsError(error)) return { remote, why: error.message };
    throw error;
  }
}

/** The same for many, a few at a time, in their order. */
export function downloadAll(
  remotes: readonly RemoteSkill[],
  downloading: Downloading,
): Promise<readonly Awaited<ReturnType<typeof download>>[]> {
  return inParallel(remotes, downloadsAtOnce, (remote) => download(remote, downloading));
}

/** What the lock says of a downloaded skill. */
export function entryOf(
  index: RemoteIndex,
  { remote, files, inspected }: Downloaded,
  {
    form,
    key,
    now,
    before,
  }: { readonly form: LockForm; readonly key: string; readonly now: string; readonly before: LockEntry | undefined },
): LockEntry {
  const hash = computedHash(files);
  const digests = fileDigests(files);
  const from = lockedSource(index, remote, files, form);
  return {
    ...from,
    ...(form === "project"
      ? { computedHash: hash }
      : {
          // Of a well-known source, the skills package leaves it empty.
          skillFolderHash: from.sourceType === "well-known" ? "" : hash,
          installedAt: before?.installedAt ?? now,
          updatedAt: now,
        }),
    version: inspected.version,
    digest: inspected.digest,
    ...(remote.name !== key && { name: remote.name }),
    ...(digests !== undefined && { files: digests }),
  };
}

/** What a source offers now. */
export async function readNow(reader: SourceReader, source: Source, signal: AbortSignal): Promise<RemoteIndex> {
  const index = await reader.read(source, undefined, signal);
  if (index === undefined) throw new TypeError("not asked whether it changed");
  return index;
}

/** Why something was not done with a skill. */
export interface Reason {
  readonly name: string;
  readonly why: string;
}

const mostNamed = 5;

/** Each reason once with all of its skills: `a, b and 3 more: why`. */
export function reasonLines(reasons: readonly Reason[], between = ""): readonly string[] {
  const names = new Map<string, string[]>();
  for (const { name, why } of reasons) names.set(why, [...(names.get(why) ?? []), name]);
  return [...names].map(([why, all]) => `${shortList(all, mostNamed)}${between}: ${why}`);
}

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
    throw unusable(error?.message ?? "it has no SKILL.md");
  }
  const source = memorySkillSource(directory, files);
  const hashed = await createSkillHasher()
    .hash(source, directory, new AbortController().signal)
    .catch((error: unknown) => {
      throw isSkillsError(error) ? unusable(error.message.replace(directory, key)) : error;
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

function unusable(why: string): SkillsError {
  return new SkillsError("SOURCE_INVALID", `no agent can use it: ${why}`);
}

/** Each permission, and each of the agent's tools that the skill's author expects. */
export function wantedWords({ wants, expects }: Pick<InspectedSkill, "wants" | "expects">): readonly string[] {
  return [...permissionWords(wants), ...expects.map((tool) => `the agent's tool ${tool}`)];
}
