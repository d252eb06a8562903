import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "../../../../base/clock.ts";
import { makeTemporary } from "../../../../base/processes/temporary-directory.ts";
import { findProgram, searchPath } from "../../../../base/processes/find-program.ts";
import type { GitProgram } from "./git-settings.ts";
import { runGit } from "./run-git.ts";

/** The first with `http.curloptResolve`, without which git would look up a host again after we checked its addresses. */
const oldest = [2, 37] as const;

/** Finds a git that is new enough; undefined without one. */
export async function findGit(env: NodeJS.ProcessEnv = process.env): Promise<GitProgram | undefined> {
  const directories = searchPath(env.PATH ?? "");
  const file = findProgram(directories, process.platform === "win32" ? "git.exe" : "git");
  if (file === undefined) return undefined;
  const program = { file, searchPath: directories.join(path.delimiter) };
  return isRecent(await readVersion(program)) ? program : undefined;
}

async function readVersion(program: GitProgram): Promise<string> {
  const home = makeTemporary(tmpdir(), "git");
  try {
    const { stdout } = await runGit(program, {
      args: ["--version"],
      home,
      maxBytes: 1_024,
      timeoutMs: 10_000,
      clock: systemClock,
      signal: new AbortController().signal,
    });
    return stdout.toString("utf8");
  } catch {
    // It cannot be started or does not answer: as good as none.
    return "";
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Whether the text of `git --version` is of one that we can use. */
export function isRecent(text: string): boolean {
  const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(text) ?? []).map(Number);
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
}
