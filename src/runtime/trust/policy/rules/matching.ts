import type { ListName } from "../policy-file.ts";
import { hostsContain, hostsOverlap } from "./host-rule.ts";
import { matchesGlob } from "../../../../base/text/name-glob.ts";
import { sourceContains } from "./source-rule.ts";

/** How the entries of the lists of a policy are compared with names, or with each other. */
interface Matching {
  /** Whether an entry stands for everything that another one does. */
  readonly contains: (entry: string, other: string, home: string) => boolean;
  /** Whether an entry stands for anything that another one does: true if in doubt. */
  readonly overlaps: (entry: string, other: string) => boolean;
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

export const matching: Readonly<Record<ListName, Matching>> = {
  skills: { contains: matchesGlob, overlaps: matchesGlob },
  sources: { contains: sourceContains, overlaps: isSame },
  licenses: { contains: isSame, overlaps: isSame },
  hosts: { contains: hostsContain, overlaps: hostsOverlap },
  secrets: { contains: matchesGlob, overlaps: matchesGlob },
};
