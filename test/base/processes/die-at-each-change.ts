import { execa } from "execa";
import { expect } from "vitest";

/** In the gate. Otherwise only every tenth change, the first among them, is one to die at. */
export const isEachKilled = process.env["ACP_SKILLS_GATE"] === "1";
const stride = isEachKilled ? 1 : 10;

interface Deaths<Place> {
  /** A program that calls `dieAtChange`; it gets a directory and the change to die at. */
  readonly program: string;
  /** More arguments of the program. */
  readonly args?: readonly string[];
  /** Dies at every n-th of these changes only. */
  readonly every?: number;
  /** What the program starts from; a new one each time. */
  readonly prepare: () => Promise<Place> | Place;
  readonly directoryOf: (place: Place) => string;
  /** Looks at what the program left and printed. */
  readonly check: (place: Place, printed: string, moment: string) => Promise<void>;
  /** Number of programs at a time. */
  readonly atOnce?: number;
}

/** Runs a program that dies at its first change of the file system, at a later one, and so on until it finishes; returns the last such change. */
export async function dieAtEachChange<Place>({
  program,
  args: given = [],
  every = 1,
  prepare,
  directoryOf,
  check,
  atOnce = 2,
}: Deaths<Place>): Promise<number> {
  let latest = 0;
  let next = 1;
  const runUntilFinished = async (): Promise<void> => {
    for (;;) {
      const change = next;
      next += every * stride;
      const place = await prepare();
      const args = [program, directoryOf(place), String(change), ...given];
      const { exitCode, signal, stdout, stderr } = await execa(process.execPath, args, { reject: false });
      expect(stderr).toBe("");
      await check(place, stdout, `change ${change}`);
      if (exitCode === 0) return;
      expect(signal, `change ${change}`).toBe("SIGKILL");
      latest = Math.max(latest, change);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runUntilFinished));
  return latest;
}
