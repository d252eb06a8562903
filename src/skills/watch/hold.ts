import type { Clock } from "../../base/clock.ts";
import type { DirectoryRecord } from "../files/read-directory.ts";

/** Doubts losses for a moment: editors empty or rename a file before they write it anew. */
export interface Hold {
  /** Whether to go on as if the directory were as before. Not where nothing has happened for as long as that would be doubted. */
  isHeld(directory: string, before: DirectoryRecord, now: DirectoryRecord | undefined, quiet?: number): boolean;
  close(): void;
}

const patience = 40;

/** `lookAgain` is called when a directory's time is over; it must not throw. */
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
          // The timer decides that time is over, not the clock: timers fire a little early.
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

/** Whether a skill or a directory has gone, or a skill has become unusable or lost its manifest. */
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
