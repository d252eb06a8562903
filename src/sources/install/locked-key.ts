import { nearest } from "../../base/text/nearest.ts";
import { directoryName } from "../lock.ts";
import type { Lock } from "../lock.ts";

/** The key of a skill that a person names: as it is, or by its directory. */
export function lockedKey({ entries }: Lock, name: string): string | undefined {
  if (entries.has(name)) return name;
  return [...entries.keys()].find((key) => directoryName(key) === name);
}

/** What a person is told who names a skill that the lock does not have. */
export function notInLock({ entries }: Lock, name: string): string {
  const [close] = nearest(name, [...entries.keys()]);
  const advice = close === undefined ? "acp-skills verify names the skills that are" : `did you mean ${close}?`;
  return `${name} is not in the lock; ${advice}`;
}
