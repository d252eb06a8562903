import type { Json, SandboxProject } from "../sandbox.ts";

/**
 * Names at the top of a project that programs outside the sandbox trust: git hooks, instructions and settings of agents, what the project
 * forbids its skills, settings of editors, CI, and programs that people and shells start from there. A run can neither change nor create them. Lower case; matched case-insensitively.
 *
 * Landlock grants rights on whole trees only. So a directory with a guarded name gets no right to create entries: at the top of a
 * project, a run can only change existing files and directories. The same holds for directories that contain a `.git` (submodules,
 * work trees) and their parents, among the first `guardedDirectories` and down to `guardedDepth`. Not guarded: a `.git` that a run
 * creates where there was none, such names below the top, and modes and times of files, which Landlock does not cover.
 */
export const guardedNames: readonly string[] = [
  // Version control, and what it runs.
  ...[".git", ".hg", ".svn", ".jj", ".gitmodules", ".gitattributes", ".githooks", ".husky", ".pre-commit-config.yaml"],
  ...["lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml"],
  // Packages, whose programs are started by name, and settings that name such programs.
  ...["node_modules", ".venv", "venv", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnp.cjs", ".pnpmfile.cjs"],
  // Agents: skills, settings, servers.
  ...[".agents", ".claude", ".codex", ".copilot", ".gemini", ".goose", ".opencode", ".pi", ".qwen", ".mcp.json"],
  ...["opencode.json", "opencode.jsonc", ".clinerules", ".windsurf", ".kiro", ".roo", ".continue", ".acpxrc.json"],
  ...["agents.md", "claude.md", "gemini.md", "acp-skills.policy.json", "skills-lock.json"],
  // Editors.
  ...[".vscode", ".idea", ".zed", ".cursor", ".fleet", ".devcontainer", ".devcontainer.json", ".dir-locals.el"],
  ...[".nvim.lua", ".nvimrc", ".exrc", ".vimrc", ".lvimrc", ".sublime", ".editorconfig"],
  // Shells that change to the directory.
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

/** What `confine.py` needs to know about a project, which is at `path` inside the sandbox. */
export function wallsOfProject(
  path: string,
  { writable, identity, kept = [] }: SandboxProject,
): { readonly [key: string]: Json } {
  const guarded = { path, names: guardedNames, kept, depth: guardedDepth, directories: guardedDirectories };
  return { project: { path, ...identity }, ...(writable && { guarded }) };
}
