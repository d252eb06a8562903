import { createHash, randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, renameSync, statSync } from "node:fs";
import path from "node:path";
import { holdChild, holdDirectory, joinPath } from "../../base/paths/at-real-path.ts";
import type { HeldDirectory } from "../../base/paths/at-real-path.ts";
import { identifyProcess, isRunning } from "../../base/processes/live-process.ts";
import { systemCode } from "../../base/failures/system-code.ts";
import type { SkillFile } from "../skill-bytes.ts";
import { readInstalled } from "./read-installed.ts";
import type { InstalledFiles } from "./read-installed.ts";
import { removeDirectory, syncHeld, writeFiles } from "./write-files.ts";

/** A directory next to that of skills, on the same file system, where skills are written before and put aside after they are replaced. */
export interface Staging {
  /** Writes a skill; nothing is installed yet. */
  write(name: string, files: readonly SkillFile[]): void;
  /**
   * Puts the written skill, or without one nothing, in the place of what is there. `isExpected` is asked what was there, now that nobody
   * finds it there any more; if it refuses, everything is as before. Returns how to undo it.
   */
  swap(name: string, isExpected: (before: InstalledFiles | undefined) => boolean): (() => void) | undefined;
  /** Removes what was put aside. */
  close(): void;
}

const prefix = ".acp-skills-";
const nameForm = /^\.acp-skills-(\d{1,10})-(\d{0,20})-([0-9a-f]{8})-[0-9a-f]{16}$/;
/** What another boot or container left behind. */
const abandonedMs = 24 * 60 * 60 * 1000;

/**
 * Finishes what processes left that were killed while they replaced skills of the directory at a real path: a skill that they had put
 * aside is put back unless a new one is in its place.
 */
export function recoverSkills(skills: string, now: number): void {
  const above = path.dirname(skills);
  const [parent, target] = [holdDirectory(above), holdDirectory(skills)];
  try {
    recover({ parent, above, target }, now);
  } finally {
    parent.close();
    target.close();
  }
}

/** Opens one for the directory of skills at a real path. */
export function openStaging(skills: string): Staging {
  const above = path.dirname(skills);
  const { pid, started, space } = identifyProcess();
  const name = `${prefix}${pid}-${started}-${shortHash(space)}-${randomBytes(8).toString("hex")}`;
  const [parent, target] = [holdDirectory(above), holdDirectory(skills)];
  try {
    mkdirSync(`${parent.path}/${name}`, { mode: 0o700 });
  } catch (error) {
    parent.close();
    target.close();
    throw error;
  }
  const real = joinPath(above, name);
  const held = holdChild(parent, name, real);
  for (const room of ["new", "old"]) mkdirSync(`${held.path}/${room}`, { mode: 0o700 });
  const written = new Set<string>();
  return {
    write(skill, files) {
      mkdirSync(`${held.path}/new/${skill}`, { mode: 0o755 });
      const child = holdDirectory(path.join(real, "new", skill));
      try {
        writeFiles(child, path.join(real, "new", skill), files);
      } finally {
        child.close();
      }
      written.add(skill);
    },
    swap(skill, isExpected) {
      const [place, fresh, aside] = [
        `${target.path}/${skill}`,
        `${held.path}/new/${skill}`,
        `${held.path}/old/${skill}`,
      ];
      const wasThere = moveIfThere(place, aside);
      const putBack = (): void => {
        if (wasThere) renameSync(aside, place);
      };
      try {
        if (!isExpected(wasThere ? readInstalled(path.join(real, "old"), skill) : undefined)) {
          putBack();
          return undefined;
        }
        if (written.has(skill)) renameSync(fresh, place);
      } catch (error) {
        putBack();
        throw error;
      }
      syncHeld(target);
      return () => {
        if (written.has(skill)) renameSync(place, fresh);
        putBack();
      };
    },
    close() {
      held.close();
      target.close();
      try {
        removeDirectory(parent, name, real);
      } finally {
        parent.close();
      }
    },
  };
}

function moveIfThere(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  }
}

interface Place {
  readonly parent: HeldDirectory;
  readonly above: string;
  readonly target: HeldDirectory;
}

function recover({ parent, above, target }: Place, now: number): void {
  for (const name of readdirSync(parent.path).filter((entry) => isAbandoned(parent, entry, now))) {
    const real = joinPath(above, name);
    for (const skill of asideIn(parent, name)) {
      const isTaken = lstatSync(`${target.path}/${skill}`, { throwIfNoEntry: false }) !== undefined;
      if (!isTaken) renameSync(`${parent.path}/${name}/old/${skill}`, `${target.path}/${skill}`);
    }
    removeDirectory(parent, name, real);
  }
}

function asideIn(parent: HeldDirectory, name: string): readonly string[] {
  try {
    return readdirSync(`${parent.path}/${name}/old`);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return []; // Killed before it began.
    throw error;
  }
}

function isAbandoned(parent: HeldDirectory, name: string, now: number): boolean {
  const [, pid, started = "", space] = nameForm.exec(name) ?? [];
  if (pid === undefined) return false;
  const ours = identifyProcess();
  const running =
    space === shortHash(ours.space) ? isRunning({ pid: Number(pid), started, space: ours.space }) : undefined;
  if (running !== undefined) return !running;
  return now - statSync(`${parent.path}/${name}`).mtimeMs > abandonedMs;
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
