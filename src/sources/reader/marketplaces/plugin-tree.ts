import { setImmediate as nextTurn } from "node:timers/promises";
import { type TreeSkill, readSkillTexts } from "../trees/describe-skills.ts";
import {
  type FileTree,
  directoriesAbove,
  findSkills,
  isSkill,
  joinTreePath,
  skillChildren,
} from "../trees/file-tree.ts";
import { type PluginEntry, type PluginContents, readManifests, toPluginPath } from "./marketplace.ts";
import type { RemoteContent } from "../../reader.ts";

/** The number of plugins whose skills are searched before other work has its turn. */
const foundAtOnce = 10;

/** The files of a marketplace or of one plugin. */
export interface PluginTree {
  readonly tree: FileTree;
  /** The plugin's directory, or the one to which relative sources of a marketplace refer. */
  readonly root: string;
  readonly toContent: (directory: string) => RemoteContent;
}

/** The skills of plugins, and one sentence for each item that could not be used. */
export interface PluginsRead {
  readonly found: readonly TreeSkill[];
  readonly problems: readonly string[];
  /** Commits of other repositories that entries follow by a branch or a tag, by `REPOSITORY#REF`. */
  readonly followed?: Readonly<Record<string, string>>;
  /** Set if something could not be read now that may be readable later. */
  readonly isPartial?: true;
}

/** Reads the skills of a repository that is one plugin; none if it has no manifest. */
export async function readSinglePlugin(own: PluginTree, signal: AbortSignal): Promise<PluginsRead> {
  const manifests = await readManifests(own.tree, [own.root], signal);
  const manifest = manifests.get(own.root);
  if (manifest === undefined) return { found: [], problems: [] };
  const { directories, problems } = pluginSkills(own.tree, { manifest, root: own.root, isShared: false });
  const skills = directories.map((directory) => ({ directory, content: own.toContent(directory), fallback: "plugin" }));
  return {
    found: await readSkillTexts(own.tree, skills, signal),
    problems: [...problems, ...ignoredProblem("The plugin", manifest.ignored)],
  };
}

/** Reads the plugins in the marketplace's own files. */
export async function readOwnPlugins(
  plugins: readonly PluginEntry[],
  own: PluginTree,
  signal: AbortSignal,
): Promise<PluginsRead> {
  const { tree, root } = own;
  const problems: string[] = [];
  const directories = directoriesOf(tree);
  const entries = plugins.flatMap((entry) => {
    if (entry.location.type !== "directory") return [];
    const paths = entry.location.paths.map((path) => joinTreePath(root, path));
    const directory = paths.find((path) => directories.has(path));
    if (directory !== undefined) return [{ entry, root: directory, isShared: directory === root }];
    problems.push(
      `The plugin ${quotedName(entry.name)} cannot be used: there is no directory ${quotedName(paths[0] ?? "")}.`,
    );
    return [];
  });
  const read = await readPluginTree(own, entries, signal);
  return { found: read.found, problems: [...problems, ...read.problems] };
}

/** A plugin and its directory in a tree. */
interface LocatedPlugin {
  readonly entry: PluginEntry;
  /** The directory of the plugin. */
  readonly root: string;
  /** Whether `root` is the marketplace's own directory. */
  readonly isShared: boolean;
  /** Whether the files were fetched for plugins only: if no skills are declared or found, they are read like any repository. */
  readonly isFetched?: true;
}

/** Reads the skills of plugins of one tree, with two reads for any number of plugins. */
export async function readPluginTree(
  { tree, toContent }: Pick<PluginTree, "tree" | "toContent">,
  plugins: readonly LocatedPlugin[],
  signal: AbortSignal,
): Promise<PluginsRead> {
  const manifests = await readManifests(
    tree,
    plugins.map(({ root }) => root),
    signal,
  );
  const problems: string[] = [];
  const groups = new Map<string, string>();
  for (const [index, { entry, root, isShared, isFetched }] of plugins.entries()) {
    if (index % foundAtOnce === 0) await nextTurn();
    const manifest = manifests.get(root);
    const read = pluginSkills(tree, { entry, root, isShared, ...(manifest !== undefined && { manifest }) });
    const isBare = read.directories.length === 0 && entry.skills.length === 0;
    const directories = isBare && isFetched === true ? findSkills(tree, root) : read.directories;
    const ignored = [...new Set([...entry.ignored, ...(manifest?.ignored ?? [])])];
    problems.push(...read.problems, ...ignoredProblem(`The plugin ${quotedName(entry.name)}`, ignored));
    for (const directory of directories) if (!groups.has(directory)) groups.set(directory, entry.name);
  }
  const skills = [...groups].map(([directory, group]) => {
    return { directory, group, fallback: group, content: toContent(directory) };
  });
  return { found: await readSkillTexts(tree, skills, signal), problems };
}

function directoriesOf(tree: FileTree): ReadonlySet<string> {
  const directories = new Set([""]);
  for (const path of tree.files.keys()) {
    for (const directory of directoriesAbove(path)) {
      if (directories.has(directory)) break;
      directories.add(directory);
    }
  }
  return directories;
}

function ignoredProblem(what: string, ignored: readonly string[]): readonly string[] {
  return ignored.length === 0
    ? []
    : [`${what} also has ${ignored.join(", ")}, which are not used; only its skills are.`];
}

/** Quotes a remote name for a sentence, cut to 128 characters. */
export function quotedName(text: string): string {
  return JSON.stringify(text.slice(0, 128));
}

/** A plugin as its entry and its manifest describe it. */
export interface Plugin {
  readonly entry?: Pick<PluginEntry, "name" | "skills" | "isStrict">;
  readonly manifest?: PluginContents;
  /** The plugin's directory in the tree. */
  readonly root: string;
  /** Whether `root` is also the directory of the marketplace, which many plugins share. */
  readonly isShared: boolean;
}

/**
 * Returns the directories of a plugin's skills: those that it declares and those in `skills/`; without any, the plugin itself if it is a
 * skill. If an entry lists directories of the marketplace itself, only these count. A listed directory is a skill or holds skills.
 */
export function pluginSkills(
  tree: FileTree,
  { entry, manifest, root, isShared }: Plugin,
): { readonly directories: readonly string[]; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const listed = entry?.skills ?? [];
  const overrides = entry?.isStrict === false && listed.length > 0;
  if (overrides && (manifest?.skills.length ?? 0) > 0)
    problems.push(`The plugin ${entry.name} and its entry both list skills; those of the entry are taken.`);
  const declared = [...listed, ...(overrides ? [] : (manifest?.skills ?? []))];
  const isOnly = isShared && listed.some((path) => toPluginPath(path) !== "");
  const found = new Set<string>();
  for (const path of declared) {
    const inside = toPluginPath(path);
    const skills = inside === undefined ? [] : skillsAt(tree, joinTreePath(root, inside));
    if (skills.length === 0)
      problems.push(`${JSON.stringify(path.slice(0, 200))} of the plugin ${entry?.name ?? "here"} holds no skill.`);
    for (const skill of skills) found.add(skill);
  }
  if (!isOnly) for (const skill of skillsAt(tree, joinTreePath(root, "skills"))) found.add(skill);
  if (found.size === 0 && declared.length === 0 && isSkill(tree, root)) found.add(root);
  return { directories: [...found], problems };
}

function skillsAt(tree: FileTree, directory: string): readonly string[] {
  return isSkill(tree, directory) ? [directory] : skillChildren(tree, directory);
}
