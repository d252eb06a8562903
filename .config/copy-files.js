import { cpSync, rmSync } from "node:fs";

/** What the package reads when it runs, and the compiler leaves where it is. */
const files = [
  "browser/server/answer/page.html",
  "cli/commands/authoring/init",
  "cli/commands/completion",
  ...["wrap-adapters.lua", "wrap-agents.el", "wrap-agents.lua", "wrap-providers.lua"].map(
    (name) => `cli/commands/setup/editors/${name}`,
  ),
  "cluster/database/migrations",
  "runtime/caller/guide/SKILL.md",
  "runtime/sandbox/inside",
  "runtime/sandbox/processes/show_project.py",
  "runtime/sandbox/requirements/only_wheels.py",
  "serve/routes/openapi.json",
  "skills/signature/trusted-root.json",
];

for (const directory of [".build", "dist"])
  for (const file of files) {
    const target = new URL(`../${directory}/${file}`, import.meta.url);
    rmSync(target, { recursive: true, force: true });
    cpSync(new URL(`../src/${file}`, import.meta.url), target, {
      recursive: true,
      filter: (path) => !path.includes("__pycache__"),
    });
  }
