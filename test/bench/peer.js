import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** The versions of the peer and of Node, which the peer needs in a newer version than this package. */
const packages = { peer: "skills@1.7.4", node: `node-${process.platform}-${process.arch}@24` };

/**
 * Installs the peer outside the repository, once. Resolves with the reason if that is not possible.
 * @returns {Promise<{ node: string, program: string, version: string } | string>}
 */
export async function installPeer() {
  if (process.platform === "win32") return "the peer is not installed on Windows";
  const cache = join(tmpdir(), "acp-skills-bench-peer");
  const folder = join(cache, packages.peer);
  try {
    if (!existsSync(folder)) {
      await mkdir(cache, { recursive: true });
      // Renamed into place when complete, so that a partial installation is never used.
      const draft = await mkdtemp(join(cache, "draft-"));
      await writeFile(join(draft, "package.json"), '{"private":true}');
      const wanted = ["install", "--no-audit", "--no-fund", "--loglevel=error", packages.peer, packages.node];
      await promisify(execFile)("npm", wanted, { cwd: draft });
      await rename(draft, folder).catch(async (/** @type {unknown} */ error) => {
        await rm(draft, { recursive: true, force: true });
        if (!existsSync(folder)) throw error;
      });
    }
  } catch (error) {
    return `the peer could not be installed (${error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : "unknown error"})`;
  }
  const modules = join(folder, "node_modules");
  const node = join(modules, packages.node.split("@", 1)[0] ?? "", "bin", "node");
  return { node, program: join(modules, "skills", "bin", "cli.mjs"), version: packages.peer };
}
