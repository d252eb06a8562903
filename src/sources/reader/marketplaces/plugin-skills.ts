import { type FileTree, joinTreePath } from "../trees/file-tree.ts";
import { isSkill, skillChildren } from "../trees/find-skills.ts";
import type { PluginEntry, PluginParts } from "./marketplace.ts";
import { toPluginPath } from "./plugin-path.ts";

/** What an entry and the manifest of its plugin say together. */
export interface Plugin {
  readonly entry?: Pick<PluginEntry, "name" | "skills" | "isStrict">;
  readonly manifest?: PluginParts;
  /** The plugin's directory in the tree. */
  readonly root: string;
  /** Whether that is also the directory of the marketplace, which many plugins share. */
  readonly isShared: boolean;
}

/**
 * The directories of a plugin's skills: those that it declares, and those in `skills/`; without any, the plugin itself if it is a skill.
 * An entry that lists directories of the marketplace itself has only these. A listed directory is a skill or holds skills.
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
