import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { cache, installOnce } from "./debian.ts";

/** Where the plugins of the editors are developed. */
const owners = {
  "codecompanion.nvim": "olimorris",
  "agentic.nvim": "carlos-algms",
  "avante.nvim": "yetone",
  "nui.nvim": "MunifTanjim",
  "plenary.nvim": "nvim-lua",
  "agent-shell": "xenodium",
  "acp.el": "xenodium",
  "shell-maker": "xenodium",
  "vscode-acp": "formulahendry",
} as const;

export type Plugin = keyof typeof owners;

export function pluginFolder(name: Plugin): string {
  return join(cache, "plugins", name);
}

/**
 * Installs plugins unless they are there: from `NAME.tar.gz` in the folder that `ACP_SKILLS_EDITOR_ARCHIVES` names, else from git.
 * Returns the reason if that is impossible.
 */
export async function installPlugins(
  names: readonly Plugin[],
  build: (folder: string) => Promise<unknown> = () => Promise.resolve(),
): Promise<string | undefined> {
  await mkdir(dirname(pluginFolder("acp.el")), { recursive: true });
  for (const name of names) {
    const archive = join(process.env["ACP_SKILLS_EDITOR_ARCHIVES"] ?? "", `${name}.tar.gz`);
    const failure = await installOnce(pluginFolder(name), async (draft) => {
      if (existsSync(archive)) await run("tar", ["xzf", archive, "-C", draft, "--strip-components=1"]);
      else await run("git", ["clone", "--quiet", "--depth=1", `https://github.com/${owners[name]}/${name}`, draft]);
      await build(draft);
    });
    if (failure !== undefined)
      return `${name} could not be installed from git, or from the folder that ACP_SKILLS_EDITOR_ARCHIVES names, as ${name}.tar.gz: ${failure}`;
  }
  return undefined;
}

const run = promisify(execFile);
