import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Playground } from "../agents/playground.ts";

/** Editors and plugins are installed here, outside the project; delete the folder to reinstall them. */
export const cache = join(tmpdir(), "acp-skills-editors");
export const repository = fileURLToPath(new URL("../../", import.meta.url));

/** Debian's newest release, which has the editors; what is installed in it in one step. */
const release = "sid";
const packages = ["neovim", "emacs-nox", "nodejs", "python3", "curl", "git", "ca-certificates", "procps"];
const root = join(cache, release);

/** Installs Debian into a folder, unless it is there; returns the reason if that is impossible. */
export async function installDebian(): Promise<string | undefined> {
  if (process.platform !== "linux") return "the editors are installed on Linux only";
  if (spawnSync("bwrap", ["--version"]).error) return "bubblewrap is not installed";
  if (existsSync(root)) return undefined;
  if (process.getuid?.() !== 0) return "debootstrap needs root";
  if (spawnSync("debootstrap", ["--version"]).error) return "debootstrap is not installed";
  const failure = await installOnce(root, async (draft) => {
    const options = ["--variant=minbase", `--include=${packages.join(",")}`];
    await promisify(execFile)("debootstrap", [...options, release, draft], { maxBuffer: 64 * 1024 * 1024 });
  });
  return failure && `debootstrap failed: ${failure}`;
}

/** Fills a folder by way of a draft, so that an interrupted installation is never used. Returns why that failed. */
export async function installOnce(
  folder: string,
  fill: (draft: string) => Promise<unknown>,
): Promise<string | undefined> {
  if (existsSync(folder)) return undefined;
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, "draft-"));
  // If this user is root, skills run as other users, who need the programs in it.
  await chmod(draft, 0o755);
  try {
    await fill(draft);
    await rename(draft, folder);
    return undefined;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    return error instanceof Error ? error.message : String(error);
  }
}

/** The command line of a program in that Debian, where the home is the playground's. The processes are also visible outside. */
function inDebian({ home, project, temporary }: Playground, command: readonly string[]): readonly string[] {
  const base = dirname(home);
  const readable = [cache, repository].flatMap((folder) => ["--ro-bind", folder, folder]);
  return [
    ...["--bind", root, "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc", "--ro-bind", "/sys", "/sys"],
    ...["--tmpfs", "/tmp", ...readable, "--bind", base, base, "--chdir", project],
    ...["--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "LANG", "C.UTF-8", "--setenv", "TERM", "xterm"],
    ...["--setenv", "HOME", home, "--setenv", "TMPDIR", temporary, "--die-with-parent", "--", ...command],
  ];
}

/** Runs a program to its end; returns what it printed. */
export async function runInDebian(playground: Playground, command: readonly string[]): Promise<string> {
  return (await promisify(execFile)("bwrap", inDebian(playground, command))).stdout;
}

export function startInDebian(playground: Playground, command: readonly string[]): ChildProcess {
  return spawn("bwrap", inDebian(playground, command), { stdio: "ignore" });
}
