import path from "node:path";
import { constants, fsyncSync, lstatSync, mkdirSync, openSync, statSync, readdirSync } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { SkillsError } from "../errors.ts";
import { ifThere } from "../failures/system-error.ts";
import type { Clock } from "../clock.ts";
import { withDescriptor } from "./at-real-path.ts";

/**
 * The default directory of blobs and the ledger: `$ACP_SKILLS_HOME`, else the platform's directory for user data. Always absolute; a
 * relative `$XDG_DATA_HOME` is ignored, as its specification demands.
 */
export function defaultDataDirectory(
  home: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform = process.platform,
): string {
  const paths = platform === "win32" ? path.win32 : path.posix;
  const { ACP_SKILLS_HOME: own = "", XDG_DATA_HOME: xdg = "", LOCALAPPDATA: local = "" } = env;
  if (own !== "") return paths.resolve(own);
  if (platform === "win32") {
    return paths.join(local === "" ? paths.join(home, "AppData", "Local") : local, "acp-skills");
  }
  if (platform === "darwin") return paths.join(home, "Library", "Application Support", "acp-skills");
  return paths.join(paths.isAbsolute(xdg) ? xdg : paths.join(home, ".local", "share"), "acp-skills");
}

/** The name of every policy file. */
export const policyFileName = "acp-skills.policy.json";

/** The path of an organisation's policy, in a directory that only administrators can write to. */
export function organisationPolicy(
  platform: NodeJS.Platform = process.platform,
  env: Readonly<NodeJS.ProcessEnv> = process.env,
): string {
  if (platform === "darwin") return `/Library/Application Support/acp-skills/${policyFileName}`;
  // Not in %ProgramData%, where all users may create directories.
  if (platform === "win32")
    return path.win32.join(env.ProgramFiles ?? "C:\\Program Files", "acp-skills", policyFileName);
  return `/etc/acp-skills/${policyFileName}`;
}

/** Creates a directory and its missing parents. Not by `recursive`, which never ends on a file system that returns ENOENT, like /proc. */
export function makeDirectories(directory: string, mode: number): void {
  const refusal = tryToMake(directory, mode);
  if (refusal === undefined) return;
  const above = path.dirname(directory);
  if (refusal.code !== "ENOENT" || above === directory) throw refusal;
  makeDirectories(above, mode);
  const last = tryToMake(directory, mode);
  if (last !== undefined) throw last;
}

/** Returns the error; undefined if the directory exists, even if another process created it. */
function tryToMake(directory: string, mode: number): NodeJS.ErrnoException | undefined {
  try {
    mkdirSync(directory, { mode });
    return undefined;
  } catch (error) {
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return undefined;
    return error as NodeJS.ErrnoException;
  }
}

/** Creates directories that only this user may change. Throws UNREADABLE if other users could, because the content may be theirs. */
export function makeOwnDirectories(directory: string, mode: number): void {
  makeDirectories(directory, mode);
  const fault = ownershipFault(directory);
  if (fault === undefined) return;
  throw new SkillsError("UNREADABLE", `${directory} is not used: ${fault}.`, { facts: { path: directory } });
}

/**
 * Why other users can change or replace a directory, as the end of a sentence; undefined if they cannot, and on Windows. The parent may
 * belong to root, and be world-writable if it is sticky.
 */
export function ownershipFault(directory: string): string | undefined {
  const user = process.getuid?.();
  if (user === undefined) return undefined;
  const above = path.dirname(directory);
  const link = lstatSync(directory);
  const [own, parent] = [statSync(directory), statSync(above)];
  if (link.uid !== user || own.uid !== user)
    return "it belongs to another user; remove it, or set ACP_SKILLS_HOME to another directory";
  if ((own.mode & 0o022) !== 0) return `others may write in it; take that right away: chmod go-w ${directory}`;
  if (parent.uid !== user && parent.uid !== 0)
    return `${above} belongs to another user; set ACP_SKILLS_HOME to another directory`;
  if ((parent.mode & 0o022) !== 0 && (parent.mode & 0o1000) === 0) {
    return `others may write in ${above}; take that right away: chmod go-w ${above}`;
  }
  return undefined;
}

/** Makes the entries of a directory durable. Windows neither supports nor needs this. */
export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(directory, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes the entries of a directory durable, synchronously. */
export function syncDirectoryNow(directory: string): void {
  if (process.platform === "win32") return;
  withDescriptor(openSync(directory, constants.O_RDONLY), fsyncSync);
}

/** The names in a directory; none if it does not exist. Throws any other error of the system. */
export function namesIn(directory: string): readonly string[] {
  return ifThere(() => readdirSync(directory)) ?? [];
}

export interface SizeLimit {
  readonly maxBytes: number;
  readonly maxFiles?: number;
}

const checkIntervalMs = 100;

/**
 * Calls `exceeded` once when a directory's content exceeds the limit; for programs that fetch or unpack without a limit. The returned
 * function stops watching.
 */
export function watchSize(directory: string, limit: SizeLimit, clock: Clock, exceeded: () => void): () => void {
  let isStopped = false;
  let cancel = clock.after(checkIntervalMs, check);
  function check(): void {
    void exceeds(directory, limit).then((isOver) => {
      if (isStopped) return;
      if (isOver) exceeded();
      else cancel = clock.after(checkIntervalMs, check);
    });
  }
  return () => {
    isStopped = true;
    cancel();
  };
}

/** Whether a directory's content exceeds a limit. Files that disappear meanwhile count as empty. */
export async function exceeds(directory: string, { maxBytes, maxFiles = Infinity }: SizeLimit): Promise<boolean> {
  let [bytes, files] = [0, 0];
  const waiting = [directory];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const entry of await readdir(at, { withFileTypes: true }).catch(() => [])) {
      const entryPath = path.join(at, entry.name);
      files += 1;
      if (entry.isDirectory()) waiting.push(entryPath);
      else
        bytes += await lstat(entryPath).then(
          ({ size }) => size,
          () => 0,
        );
      if (bytes > maxBytes || files > maxFiles) return true;
    }
  }
  return false;
}
