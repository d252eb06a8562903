import { readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { attempt } from "../failures/system-error.ts";
import { unseenCharacters } from "../text/unsafe-characters.ts";
import { isWithin } from "./location.ts";

/**
 * Names in a project that programs outside the sandbox trust: git hooks, instructions and settings of agents, settings of editors, and
 * files that shells run. No run and no installation changes or creates them, at any depth. Lower case.
 */
export const guardedEverywhere: readonly string[] = [
  // Version control, and the hooks that it runs.
  ...[".git", ".hg", ".svn", ".jj", ".githooks", ".husky"],
  // Agents: skills, settings, servers, instructions.
  ...[".agents", ".claude", ".codex", ".copilot", ".gemini", ".goose", ".kimi", ".opencode", ".pi", ".qwen"],
  ...[".amazonq", ".augment", ".clinerules", ".continue", ".factory", ".junie", ".kilocode", ".kiro", ".roo", ".trae"],
  ...[".windsurf", ".acpxrc.json", ".crush.json", ".mcp.json", "opencode.json", "opencode.jsonc"],
  ...[
    "agent.md",
    "agents.md",
    "agents.override.md",
    "claude.md",
    "claude.local.md",
    "crush.md",
    "gemini.md",
    "qwen.md",
  ],
  ...[".augment-guidelines", ".cursorrules", ".goosehints", ".kilocodemodes", ".roomodes", ".rules", ".windsurfrules"],
  ".github",
  // Editors.
  ...[".vscode", ".idea", ".zed", ".cursor", ".fleet", ".obsidian", ".devcontainer", ".devcontainer.json"],
  ...[".dir-locals.el", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc", ".lvimrc", ".sublime"],
  // Shells that change to the directory.
  ...[".envrc", ".direnv", ".mise.toml", "mise.toml", ".autoenv", ".autoenv.zsh"],
];

/** Names that programs trust only at the top of a project. Below it, these names are common or mean nothing. Lower case. */
export const guardedAtTop: readonly string[] = [
  ...[".gitmodules", ".gitattributes", ".pre-commit-config.yaml"],
  ...["lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml"],
  // Packages, whose programs are started by name, and settings that name such programs.
  ...["node_modules", ".venv", "venv", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnp.cjs", ".pnpmfile.cjs"],
  ...[".editorconfig", ".tool-versions", "acp-skills.policy.json", "skills-lock.json"],
  // Continuous integration.
  ...[".gitlab", ".gitlab-ci.yml", ".gitlab-ci.yaml", ".circleci", ".travis.yml", ".buildkite", ".drone.yml"],
  ...[".woodpecker", ".woodpecker.yml", ".woodpecker.yaml", ".gitea", ".forgejo", ".cirrus.yml", ".teamcity"],
  ...["azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile", "appveyor.yml", ".appveyor.yml"],
];

const everywhere = new Set(guardedEverywhere);
const atTop = new Set(guardedAtTop);
const unseen = new RegExp(`[${unseenCharacters}]`, "gu");

/** The start of a path, relative to a project, up to its first guarded name in any spelling; undefined if it has none. */
export function guardedSegment(path: string): string | undefined {
  const segments = path.split(/[\\/]/).filter((segment) => segment !== "" && segment !== ".");
  const at = segments.findIndex((segment, index) => {
    const name = foldName(segment);
    return everywhere.has(name) || (index === 0 && atTop.has(name));
  });
  return at === -1 ? undefined : segments.slice(0, at + 1).join("/");
}

/** Whether some file system treats a name as `.git`. */
export function isGitName(name: string): boolean {
  return foldName(name) === ".git";
}

/**
 * Folds a name as some file systems do. Ignores case, forms of letters, and characters that draw nothing. Drops streams of NTFS, and dots
 * and spaces at the end. `git~1` is the short name that Windows gives to `.git`.
 */
function foldName(name: string): string {
  const seen = name.normalize("NFKC").replace(unseen, "").toUpperCase().toLowerCase();
  return seen.replace(/:.*|[. ]+$/gs, "").replace(/^git~[0-9]+$/, ".git");
}

/**
 * Whether a real path below a directory leads into a git repository, by its name or by the files that git recognises. Covers directories
 * of any name that a file `.git` names, and their common directories.
 */
export function leadsIntoGit(real: string, above: string): boolean {
  if (real === above || !isWithin(real, above)) return false;
  return isGitName(basename(real)) || isRepository(real) || leadsIntoGit(dirname(real), above);
}

function isRepository(directory: string): boolean {
  // Empty if it is missing, or no directory.
  const names = attempt(() => readdirSync(directory), []).map((name) => name.toLowerCase());
  // A linked worktree has the rest in its common directory.
  const isWhole = ["objects", "refs"].every((name) => names.includes(name));
  return names.includes("head") && (isWhole || names.includes("commondir"));
}
