import { FrameFault } from "../frames/frames.ts";
import type { Frame, FrameReader } from "../frames/frames.ts";
import { passFiles } from "./pass-on.ts";
import type { RunHost, RunLimits } from "../sandbox.ts";

const mostNotes = 50;

/** What the supervisor observed. */
export interface SupervisorReport {
  /** 128 plus the signal number for a program that was killed, as in shells. */
  readonly exitCode: number;
  readonly killed?: "memory" | "processes" | "disk" | "output";
  /** Output files that were not kept, as a list of `{path, why}`. Unchecked. */
  readonly skipped: unknown;
}

/**
 * Reads the supervisor's report after the run, and passes the output files to the host. Returns the fault of an invalid report, and
 * `undefined` if there is none. Errors of `host.output` are passed on.
 */
export async function serveSupervisor(
  frames: FrameReader,
  limits: RunLimits,
  host: RunHost,
  allAreDead: () => void,
): Promise<SupervisorReport | FrameFault | undefined> {
  const passFile = passFiles(limits, host);
  try {
    for (;;) {
      const frame = await frames.next();
      allAreDead();
      if (frame === undefined) return undefined;
      if (frame.header.type === "end") return readReport(frame);
      if (frame.header.type !== "file") throw new FrameFault("It sent an unknown frame.");
      await passFile(frame);
    }
  } catch (error) {
    if (error instanceof FrameFault) return error;
    throw error;
  }
}

function readReport({ header }: Frame): SupervisorReport {
  const { exit_code: exitCode, signal, killed, skipped } = header;
  return {
    exitCode: typeof signal === "number" ? 128 + signal : typeof exitCode === "number" ? exitCode : -1,
    ...(isLimit(killed) ? { killed } : {}),
    skipped,
  };
}

/** Appends to stderr why output files were not kept. */
export function tellSkipped(skipped: unknown, host: RunHost): void {
  const notes: unknown[] = Array.isArray(skipped) ? skipped.slice(0, mostNotes) : [];
  const lines = notes
    .filter(isNote)
    .map(({ path, why }) => `acp-skills: /output/${quoted(path)} was not kept: ${why}.\n`);
  if (lines.length > 0) host.print("stderr", Buffer.from(lines.join("")));
}

function isNote(note: unknown): note is { path: string; why: string } {
  const { path, why } = (note ?? {}) as Record<string, unknown>;
  return typeof path === "string" && typeof why === "string";
}

/** Names with unusual characters are shown as JSON. */
function quoted(path: string): string {
  return /^[\p{L}\p{N} ._/-]+$/u.test(path) ? path : JSON.stringify(path);
}

function isLimit(killed: unknown): killed is NonNullable<SupervisorReport["killed"]> {
  return killed === "memory" || killed === "processes" || killed === "disk" || killed === "output";
}
