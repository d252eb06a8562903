import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type FileTree,
  directoriesAbove,
  joinTreePath,
  nameOf,
  parentDirectoryOf,
  readLinks,
  readSmall,
  resolveSymlink,
} from "./file-tree.ts";
import { describeSkillText } from "../../../skills/document.ts";
import type { RemoteContent, RemoteSkill } from "../../reader.ts";

/** A directory of a tree that is a skill. */
export interface SkillLocation {
  readonly directory: string;
  readonly content: RemoteContent;
  /** The plugin of the skill, if it belongs to one: distinguishes skills of one name. */
  readonly group?: string;
  /** The name for a skill in the root of a tree that gives itself no usable name. */
  readonly fallback: string;
}

/** A location with the text of its skill, so that the tree is needed no longer. */
export interface TreeSkill extends SkillLocation {
  /** The text of the SKILL.md; undefined if it is too large. */
  readonly text: string | undefined;
  readonly problems: readonly string[];
}

const maxSkills = 5_000;
/** The number of skills that are described before other work has its turn. */
const describedAtOnce = 50;
/** The maximum number of problems with one skill's files. */
const maxProblems = 8;
const maxSkillBytes = 1024 * 1024;
const maxDescriptionLength = 1_024;
const maxNameLength = 64;

/** Reads the texts of skills of one tree at once, because each read may start a program. */
export async function readSkillTexts(
  tree: FileTree,
  locations: readonly SkillLocation[],
  signal: AbortSignal,
): Promise<readonly TreeSkill[]> {
  const found = locations.slice(0, maxSkills + 1);
  const owners = new Set(found.map(({ directory }) => directory));
  const links = [...tree.files].flatMap(([path, { isLink }]) => {
    const owner = isLink ? ownerOf(path, owners) : undefined;
    return owner === undefined ? [] : [{ path, owner }];
  });
  const paths = found.map(({ directory }) => joinTreePath(directory, "SKILL.md"));
  const texts = await readSmall(tree, paths, maxSkillBytes, signal);
  const targets = await readLinks(
    tree,
    links.map(({ path }) => path),
    signal,
  );
  const problems = new Map<string, string[]>();
  const report = (owner: string | undefined, problem: string): void => {
    if (owner === undefined) return;
    const known = problems.get(owner) ?? [];
    if (known.length === maxProblems) known.push("More of its files are left out.");
    if (known.length < maxProblems) known.push(problem);
    problems.set(owner, known);
  };
  for (const { path, owner } of links) {
    const problem = `${JSON.stringify(path)} is a symlink to something that is not a file of the same skill; left out.`;
    if (resolveSymlink(tree, owner, path, targets) === undefined) report(owner, problem);
  }
  for (const { path, why } of tree.refused) {
    const owner = ownerOf(path, owners);
    report(owner, `${shown(owner ?? "")} cannot be used: ${JSON.stringify(path)} ${why}.`);
  }
  return found.map((location) => {
    const bytes = texts.get(joinTreePath(location.directory, "SKILL.md"));
    const text = bytes === undefined ? undefined : Buffer.from(bytes).toString("utf8");
    return { ...location, text, problems: problems.get(location.directory) ?? [] };
  });
}

/** Names and describes skills. The result is sorted, and its names are unique; skills that are left out are reported. */
export async function describeSkills(
  found: readonly TreeSkill[],
): Promise<{ readonly skills: readonly RemoteSkill[]; readonly problems: readonly string[] }> {
  const problems: string[] = [];
  const skills = new Map<string, RemoteSkill>();
  for (const [index, skill] of found.slice(0, maxSkills).entries()) {
    if (index % describedAtOnce === 0) await nextTurn();
    const { directory, content, text } = skill;
    const where = shown(directory);
    problems.push(...skill.problems);
    if (text === undefined) {
      problems.push(`${where} has a SKILL.md of more than ${maxSkillBytes} bytes; left out.`);
      continue;
    }
    const said = describeSkillText(text);
    const description = (said.description ?? "").trim().slice(0, maxDescriptionLength);
    if (description === "") {
      problems.push(`${where} has no description that can be read; left out.`);
      continue;
    }
    const plain = toSlug(said.name) ?? toSlug(nameOf(directory)) ?? toSlug(skill.fallback) ?? "skill";
    const name = freeName(plain, skill, skills);
    if (name === undefined) {
      problems.push(`${where} has the name ${plain}, as another skill of this source does; left out.`);
      continue;
    }
    if (name !== plain) problems.push(`${where} is called ${name}, because another skill has the name ${plain}.`);
    const version = said.version === undefined ? {} : { version: said.version };
    skills.set(name, { name, description, ...version, content });
  }
  if (found.length > maxSkills) problems.push(`It has more than ${maxSkills} skills; the others are left out.`);
  return { skills: [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

function shown(directory: string): string {
  return directory === "" ? "The skill in the root" : JSON.stringify(directory);
}

/** Returns the innermost of these directories that contains a path. */
function ownerOf(path: string, directories: ReadonlySet<string>): string | undefined {
  for (const above of directoriesAbove(path)) if (directories.has(above)) return above;
  return undefined;
}

/** Returns the name itself if it is free, else with the plugin or the nearest directory that makes it unique. */
function freeName(name: string, { group, directory }: SkillLocation, taken: ReadonlyMap<string, unknown>) {
  if (!taken.has(name)) return name;
  const above = parentDirectoryOf(directory).split("/").reverse();
  for (const prefix of [...(group === undefined ? [] : [group]), ...above]) {
    // The prefix is cut at its end, so that the name stays whole.
    const qualified = toSlug(`${prefix.slice(0, Math.max(8, maxNameLength - name.length - 1))}-${name}`);
    if (prefix !== "" && qualified !== undefined && !taken.has(qualified)) return qualified;
  }
  return undefined;
}

function toSlug(text: string | undefined): string | undefined {
  const words = (text ?? "").slice(0, 256).toLowerCase().split(/[^a-z0-9]+/); // prettier-ignore
  const slug = words.filter((word) => word !== "").join("-").slice(0, maxNameLength).replace(/-$/, ""); // prettier-ignore
  return slug === "" ? undefined : slug;
}
