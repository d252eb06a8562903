import { closeSync, fstatSync, openSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Clock } from "../clock.ts";
import { fileMode, hasCode, readFlags } from "./disk-layout.ts";
import { isRunning, parseIdentity, thisProcess, toText } from "./live-process.ts";

const beatMs = 15_000;
const staleMs = 120_000;

/** The processes that use a store directory. Each leaves a file that says who it is, and touches it every 15 seconds. */
export interface ProcessRegistry {
  readonly token: string;
  /** The file that says who we are. It is there after this call. */
  ownFile(): string;
  /** Whether the process that wrote this file (or a hard link to it) still runs. False when the file is not there. */
  lives(file: string): boolean;
  /** Whether we are the one who wrote it. */
  wrote(file: string): boolean;
  livesByToken(token: string): boolean;
  close(): void;
}

export function openProcessRegistry(
  directory: string,
  token: string,
  { clock, now }: { readonly clock: Clock; readonly now: () => number },
): ProcessRegistry {
  const own = path.join(directory, token);
  const text = toText(thisProcess(token));
  const introduce = (): void => {
    try {
      utimesSync(own, now() / 1000, now() / 1000);
    } catch (error) {
      if (!hasCode(error, "ENOENT")) throw error;
      writeFileSync(own, text, { mode: fileMode, flag: "wx" });
      utimesSync(own, now() / 1000, now() / 1000);
    }
  };
  const beat = (): void => {
    try {
      introduce();
    } catch {
      // A full or vanished disk: the next verb says so to somebody who can act on it.
    }
    stopBeat = clock.after(beatMs, beat);
  };
  introduce();
  let stopBeat = clock.after(beatMs, beat);

  const lives = (file: string): boolean => {
    const found = readWithTime(file);
    if (found === undefined) return false;
    const beatIsFresh = now() - found.modifiedAt < staleMs;
    const identity = parseIdentity(found.text);
    if (identity === undefined) return beatIsFresh; // Perhaps only half written yet.
    return identity.token === token || isRunning(identity, beatIsFresh);
  };
  return {
    token,
    ownFile() {
      introduce();
      return own;
    },
    lives,
    wrote(file) {
      const found = readWithTime(file);
      return found !== undefined && parseIdentity(found.text)?.token === token;
    },
    livesByToken: (other) => other === token || lives(path.join(directory, other)),
    close() {
      stopBeat();
      rmSync(own, { force: true });
    },
  };
}

function readWithTime(file: string): { readonly text: string; readonly modifiedAt: number } | undefined {
  try {
    const descriptor = openSync(file, readFlags);
    try {
      return { text: readFileSync(descriptor, "utf8"), modifiedAt: fstatSync(descriptor).mtimeMs };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}
