import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import type { Clock } from "../../base/clock.ts";
import { identifyProcess, isRunning } from "../../base/processes/live-process.ts";
import type { ProcessIdentity } from "../../base/processes/live-process.ts";
import { isFull } from "./disk-fault.ts";
import { fileMode, hasCode, readFlags } from "./disk-layout.ts";

const beatMs = 15_000;
const staleMs = 120_000;

/** The processes that use a store directory. Each writes a file with its identity and touches it every 15 seconds. */
export interface ProcessRegistry {
  readonly token: string;
  /** The file of this process. It exists after this call. */
  ownFile(): string;
  /** Whether the process that wrote this file (or a hard link to it) is still running. False if the file is missing. */
  lives(file: string): boolean;
  /** Whether this process wrote the file. */
  wrote(file: string): boolean;
  livesByToken(token: string): boolean;
  /**
   * The time of the disk's clock, in milliseconds since 1970. All times of a store come from it, so that a process or a machine with a
   * wrong clock does not expire anything early.
   */
  diskNow(): number;
  close(): void;
}

export function openProcessRegistry(
  directory: string,
  token: string,
  { clock, diskNow: given }: { readonly clock: Clock; readonly diskNow?: (() => number) | undefined },
): ProcessRegistry {
  const own = path.join(directory, token);
  const text = toText({ token, ...identifyProcess() });
  let isBlank = false;
  let known = 0;

  const setTime = (): void => {
    utimesSync(own, known / 1000, known / 1000);
  };
  const write = (flag: "wx" | "r+"): void => {
    try {
      writeFileSync(own, text, { mode: fileMode, flag });
      isBlank = false;
    } catch (error) {
      // On a full disk, an empty file that is touched is sufficient, so that this process can register and free disk space.
      if (!isFull(error) || !existsSync(own)) throw error;
      isBlank = true;
    }
  };
  const introduce = (): void => {
    try {
      setTime();
    } catch (error) {
      if (!hasCode(error, "ENOENT")) throw error;
      write("wx");
      known = Math.max(known, statSync(own).mtimeMs);
    }
    if (isBlank) write("r+");
    // The change time was just set by the disk's clock.
    known = given?.() ?? statSync(own).ctimeMs;
    setTime();
  };
  const beat = (): void => {
    try {
      introduce();
    } catch {
      // The disk is full or missing: the next method call reports that to its caller.
    }
    stopBeat = clock.after(beatMs, beat);
  };
  introduce();
  let stopBeat = clock.after(beatMs, beat);

  const diskNow = (): number => {
    introduce();
    return known;
  };
  const lives = (file: string): boolean => {
    const found = readWithTime(file);
    if (found === undefined) return false;
    const beatIsFresh = diskNow() - found.modifiedAt < staleMs;
    const registered = parseRegistered(found.text);
    if (registered === undefined) return beatIsFresh; // Possibly still being written.
    return registered.token === token || (isRunning(registered) ?? beatIsFresh);
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
      return found !== undefined && parseRegistered(found.text)?.token === token;
    },
    livesByToken: (other) => other === token || lives(path.join(directory, other)),
    diskNow,
    close() {
      stopBeat();
      rmSync(own, { force: true });
    },
  };
}

/** The content of the file of a process. */
export interface RegisteredProcess extends ProcessIdentity {
  readonly token: string;
}

export function toText({ token, pid, started, space }: RegisteredProcess): string {
  return `${[token, space, pid, started].join("\n")}\n`;
}

/** Undefined for incomplete text. */
export function parseRegistered(text: string): RegisteredProcess | undefined {
  const [token = "", space = "", pid = "", started, end] = text.split("\n");
  if (token === "" || started === undefined || end !== "" || !/^\d+$/.test(pid)) return undefined;
  return { token, space, pid: Number(pid), started };
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
