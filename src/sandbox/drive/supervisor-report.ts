import { FrameFault } from "../frames/frames.ts";
import type { Frame, FrameReader } from "../frames/frames.ts";
import { passFiles } from "./pass-on.ts";
import type { RunHost, RunLimits } from "../sandbox.ts";

const mostNotes = 50;

/** What the supervisor saw. */
export interface SupervisorReport {
  /** As shells count: 128 and the signal for a program that was killed. */
  readonly exitCode: number;
  readonly killed?: "memory" | "processes" | "disk" | "output";
  /** What is not handed over, as a list of `{path, why}`. */
  readonly skipped: unknown;
}

/**
 * Reads what the supervisor reports when all is over, and hands the files that were left to the host. A report that is
 * nonsense is answered as the fault it is; `undefined` when it ended without one. What `host.output` throws passes through.
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

/** Tells who looks for a file that was left and is not handed over why, as the last of what was printed. */
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

/** A name that would end a line, or more, is shown as JSON. */
function quoted(path: string): string {
  return /^[\p{L}\p{N} ._/-]+$/u.test(path) ? path : JSON.stringify(path);
}

function isLimit(killed: unknown): killed is NonNullable<SupervisorReport["killed"]> {
  return killed === "memory" || killed === "processes" || killed === "disk" || killed === "output";
}
