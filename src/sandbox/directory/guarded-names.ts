import type { Json, SandboxProject } from "../sandbox.ts";

/**
 * Names at the top of a project that programs outside of every sandbox obey: what git runs, what agents and editors are set up with, what is
 * run for whoever enters the directory or pushes it. No run changes what lies below them, or makes them. Lower case; compared without it.
 *
 * Landlock gives rights to whole trees only, so that a directory in which a name is kept free gives its run no new names at all: at the
 * top of a project a run changes the files and directories that are there. The same holds for directories (and those above them)
 * in which a `.git` is found, as those of submodules and work trees, among the first `guardedDirectories` and not deeper than
 * `guardedDepth`. Not guarded: a `.git` that a run makes in a directory where there was none, such names elsewhere than at the
 * top, and mode and times of files, which Landlock does not know.
 */
export const guardedNames: readonly string[] = [
  // Version control, and what it runs.
  ...[".git", ".hg", ".svn", ".jj", ".gitmodules", ".gitattributes", ".githooks", ".husky", ".pre-commit-config.yaml"],
  // Agents: skills, settings, servers.
  ...[".agents", ".claude", ".codex", ".copilot", ".gemini", ".goose", ".opencode", ".pi", ".qwen", ".mcp.json"],
  ...["opencode.json", "opencode.jsonc", ".clinerules", ".windsurf", ".kiro", ".roo", ".continue"],
  // Editors.
  ...[".vscode", ".idea", ".zed", ".cursor", ".fleet", ".devcontainer", ".devcontainer.json", ".dir-locals.el"],
  ...[".nvim.lua", ".nvimrc", ".exrc", ".vimrc", ".lvimrc", ".sublime", ".editorconfig"],
  // Shells that enter the directory.
  ...[".envrc", ".mise.toml", "mise.toml", ".tool-versions", ".autoenv", ".autoenv.zsh"],
  // Continuous integration.
  ...[
    ".github",
    ".gitlab",
    ".gitlab-ci.yml",
    ".gitlab-ci.yaml",
    ".circleci",
    ".travis.yml",
    ".buildkite",
    ".drone.yml",
  ],
  ...[".woodpecker", ".woodpecker.yml", ".woodpecker.yaml", ".gitea", ".forgejo", ".cirrus.yml", ".teamcity"],
  ...["azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile", "appveyor.yml", ".appveyor.yml"],
];

const guardedDepth = 3;
const guardedDirectories = 2_000;

/** What the inside is told of a project. `path` is where it lies there. */
export function wallsOfProject(
  path: string,
  { writable, identity, kept = [] }: SandboxProject,
): { readonly [key: string]: Json } {
  const guarded = { path, names: guardedNames, kept, depth: guardedDepth, directories: guardedDirectories };
  return { project: { path, ...identity }, ...(writable && { guarded }) };
}
