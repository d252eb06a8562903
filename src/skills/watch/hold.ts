import type { Clock } from "../../base/clock.ts";
import type { DirectoryRecord } from "../scan/read-directory.ts";

/** Holds back losses for a moment, because editors truncate or rename a file before writing it again. */
export interface Hold {
  /** Whether to keep the previous record of a directory. False if it has been quiet for as long as a loss is held back. */
  isHeld(directory: string, before: DirectoryRecord, now: DirectoryRecord | undefined, quiet?: number): boolean;
  close(): void;
}

const patience = 40;

/** `lookAgain` is called when the time of a held directory is over; it must not throw. */
export function openHold(clock: Clock, lookAgain: (directory: string) => void, milliseconds = patience): Hold {
  const held = new Map<string, { isOver: boolean; readonly cancel: () => void }>();
  return {
    isHeld(directory, before, now, quiet = 0) {
      const doubt = held.get(directory);
      if (quiet >= milliseconds || !isLoss(before, now)) {
        doubt?.cancel();
        held.delete(directory);
        return false;
      }
      if (doubt === undefined) {
        const cancel = clock.after(milliseconds, () => {
          // The timer decides, not the clock: timers fire slightly early.
          const waiting = held.get(directory);
          if (waiting !== undefined) waiting.isOver = true;
          lookAgain(directory);
        });
        held.set(directory, { isOver: false, cancel });
        return true;
      }
      if (!doubt.isOver) return true;
      held.delete(directory);
      return false;
    },
    close() {
      for (const { cancel } of held.values()) cancel();
      held.clear();
    },
  };
}

/** Whether a skill or a directory disappeared, or a skill became unusable or lost its manifest. */
function isLoss(before: DirectoryRecord, now: DirectoryRecord | undefined): boolean {
  if (now === undefined) return true;
  if (before.skill !== undefined && now.skill?.dialect !== before.skill.dialect && !isGain(before, now)) return true;
  if (before.children.length === 0) return false;
  const names = new Set(now.children.map((child) => child.name));
  return before.children.some((child) => !names.has(child.name));
}

function isGain(before: DirectoryRecord, now: DirectoryRecord): boolean {
  return before.skill?.dialect === "agent-skills" && now.skill?.dialect === "skills-protocol";
}
