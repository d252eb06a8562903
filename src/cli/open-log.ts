import { constants, openSync, writeSync } from "node:fs";
import type { Log } from "../log.ts";
import { safeText } from "./safe-text.ts";

/** Diagnostics on stderr: what a person should know, a line each. Those that nobody reads any more are lost, and end nothing. */
export function openStderrLog(write = toStderr()): Log {
  return (level, message) => {
    if (level !== "info") write(`acp-skills: ${safeText(message)}\n`);
  };
}

function toStderr(): (line: string) => void {
  process.stderr.on("error", () => undefined);
  return (line) => void process.stderr.write(line);
}

/** Without O_NONBLOCK, opening a FIFO waits for somebody to read it; with it, it is refused. Windows has neither. */
const openFlags =
  constants.O_APPEND |
  constants.O_CREAT |
  constants.O_WRONLY |
  ((constants as Partial<typeof constants>).O_NONBLOCK ?? 0);

/**
 * Diagnostics of every level appended to a file, with times; errors go to `aside` too. Throws where the file cannot be
 * opened. When it can no longer be written, that is told once and diagnostics go to `aside`.
 */
export function openFileLog(file: string, aside: Log, now: () => Date): Log {
  const descriptor = openSync(file, openFlags, 0o600);
  let isBroken = false;
  return (level, message) => {
    if (level === "error" || isBroken) aside(level, message);
    if (isBroken) return;
    try {
      writeSync(descriptor, `${now().toISOString()} ${level} ${safeText(message)}\n`);
    } catch (error) {
      isBroken = true;
      aside("error", `${file} cannot be written any more: ${String(error)}`);
      if (level !== "error") aside(level, message);
    }
  };
}
