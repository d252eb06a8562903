import { constants, existsSync } from "node:fs";
import { copyFile, link } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pauseFor } from "node:timers/promises";
import type { Log } from "../../../base/log.ts";
import { makeOwnDirectories, syncDirectory } from "../../../base/paths/directories.ts";
import { systemCode } from "../../../base/failures/system-error.ts";
import { SkillsError, isSkillsError } from "../../../base/errors.ts";
import type { ApprovalScope, ApprovalStore } from "../approvals.ts";
import { toCopy } from "../../../skills/files.ts";
import { ApprovalFiles, UnusableFileError, maxApprovalFileBytes, maxCopyBytes, toCopyText } from "./approval-files.ts";
import { type Turn, TurnLock } from "../../../base/processes/turn-lock.ts";
import { changeApprovals, howToRemove, nothingApproved } from "./scope-approvals.ts";

export interface DiskApprovalOptions {
  /** Reports each file that is not used, once. */
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Waits while another process changes something; unlike a timer of a `Clock`, it must keep this process alive. */
  readonly pause?: (ms: number) => Promise<void>;
}

/**
 * The user's answers as readable files, in a directory that all processes of the user share:
 *
 *     everywhere.json           approvals for everywhere
 *     projects/<32 hex>.json    approvals for one project, which the file names; the hex digits are of the SHA-256 of its path
 *     copies/<64 hex>.json      the files of an approved version, named by its digest
 *     lock/                     see `TurnLock`
 *
 * Changes are durable once reported. A file that is damaged, or that others could have written, allows nothing. The next change moves a
 * damaged file aside to `<file>.damaged-<time>`.
 */
export function diskApprovals(
  directory: string,
  { log, now = Date.now, pause = (ms) => pauseFor(ms) }: DiskApprovalOptions,
): ApprovalStore {
  const stored = new ApprovalFiles(directory, { log, now });
  const lock = new TurnLock(stored.lock, { pause });

  /** The stored approvals, or the fault of a file that will be replaced. Throws UNREADABLE for a file that must not be replaced. */
  function readForChange(scope: ApprovalScope, file: string) {
    try {
      return { before: stored.read(file) ?? nothingApproved(scope) };
    } catch (error) {
      if (!(error instanceof UnusableFileError)) throw error;
      if (error.isReplaceable) return { before: nothingApproved(scope), fault: error };
      const message = `Nothing can be stored in ${file}: ${error.message}.`;
      throw new SkillsError("UNREADABLE", message, { cause: error, facts: { path: file, hint: error.remedy } });
    }
  }

  /** Gives the file a second name instead of moving it, so that a process that lost its turn moves nothing. */
  async function keepAside(file: string, fault: UnusableFileError): Promise<void> {
    const time = new Date(now()).toISOString().replaceAll(":", "-");
    const aside = `${file}.damaged-${time}`;
    try {
      await link(file, aside);
    } catch (error) {
      // Not every file system has hard links.
      if (systemCode(error) !== "EEXIST") await copyFile(file, aside, constants.COPYFILE_EXCL);
    }
    log("warning", `${file} was damaged (${fault.message}) and was moved aside to ${aside}; nothing in it counts.`);
  }

  /** Removes the copies that no grant of any scope names. Removes none while a file is not used: its grants may count again. */
  function removeCopies(turn: Turn): void {
    const named = new Set<string>();
    try {
      for (const file of stored.all()) for (const { digest } of stored.read(file)?.grants ?? []) named.add(digest);
      for (const digest of stored.copied()) {
        const file = stored.copyOf(digest);
        if (file !== undefined && !named.has(digest)) turn.remove(file);
      }
    } catch (error) {
      if (!(error instanceof UnusableFileError)) throw error;
    }
  }

  async function exclusive<Result>(file: string, work: (turn: Turn) => Promise<Result>): Promise<Result> {
    try {
      await makeAllDirectories(stored);
      return await lock.exclusive(work);
    } catch (error) {
      if (systemCode(error) === "" || isSkillsError(error)) throw error;
      const message = `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}.`;
      const hint = "Make its directory writable, and the disk not full; then try again.";
      throw new SkillsError("UNREADABLE", message, { cause: error, facts: { path: file, hint } });
    }
  }

  return {
    read: (scope) => Promise.resolve(stored.readOrReport(stored.fileOf(scope)) ?? nothingApproved(scope)),
    async change(scope, change) {
      const file = stored.fileOf(scope);
      return await exclusive(file, async (turn) => {
        const { before, fault } = readForChange(scope, file);
        const after = changeApprovals(scope, before, change);
        if (after === before) return before;
        const text = `${JSON.stringify(after, undefined, 2)}\n`;
        if (Buffer.byteLength(text) > maxApprovalFileBytes) throw tooMuch(file);
        if (fault !== undefined) await keepAside(file, fault);
        await turn.write(file, text);
        const remaining = new Set(after.grants.map(({ digest }) => digest));
        if (before.grants.some(({ digest }) => !remaining.has(digest))) removeCopies(turn);
        return after;
      });
    },
    scopes() {
      const found = stored.readAllOrReport();
      const projects = found.flatMap(({ project }) => project ?? []).sort();
      const isAnyEverywhere = found.some(({ project }) => project === undefined);
      return Promise.resolve([
        ...(isAnyEverywhere ? (["everywhere"] as const) : []),
        ...projects.map((project) => ({ project })),
      ]);
    },
    readCopy: (digest) => Promise.resolve(stored.readCopy(digest)),
    async keepCopy(digest, files) {
      const file = stored.copyOf(digest);
      const copy = toCopy(files);
      if (file === undefined || copy === undefined) return;
      const text = toCopyText(digest, copy);
      if (Buffer.byteLength(text) > maxCopyBytes) return;
      try {
        await exclusive(file, async (turn) => {
          if (stored.readCopy(digest) === undefined) await turn.write(file, text);
        });
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        stored.report(file, `What changes in this approved version of a skill cannot be shown later: ${why}`);
      }
    },
  };
}

async function makeAllDirectories({ root, projects, copies, lock }: ApprovalFiles): Promise<void> {
  const all = [root, projects, copies, lock];
  const isNew = !all.every((directory) => existsSync(directory));
  for (const directory of all) makeOwnDirectories(directory, 0o700);
  // Without this, a power failure could remove directories with approvals that were reported as stored.
  if (isNew) for (const directory of [root, path.dirname(root)]) await syncDirectory(directory);
}

function tooMuch(file: string): SkillsError {
  const message = `The approvals in ${file} would exceed ${maxApprovalFileBytes / 1024 / 1024} MiB.`;
  return new SkillsError("QUOTA_EXCEEDED", message, { facts: { hint: howToRemove } });
}
