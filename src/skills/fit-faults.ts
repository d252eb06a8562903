import { cutCodePoints } from "./code-points.ts";
import { withoutControls } from "./control-characters.ts";

/** The most findings of one rule that a file gets: nobody reads more, and each takes time and goes to the editor. */
export const maxFaultsOfRule = 20;
/** The longest sentence, which may quote the file. */
const longestText = 500;

interface AnyFault {
  readonly code: string;
  readonly message: string;
  readonly fix: string;
}

/**
 * Bounds what a file can make us say. Keeps the first faults of each rule, in their order, of which the last one tells how
 * many more there are; shortens texts and takes out what they quote that nobody should be sent.
 */
export function fitFaults<Fault extends AnyFault>(faults: readonly Fault[]): Fault[] {
  const counts = new Map<string, number>();
  const kept = faults.filter(({ code }) => {
    const count = (counts.get(code) ?? 0) + 1;
    counts.set(code, count);
    return count <= maxFaultsOfRule;
  });
  const shown = new Map<string, number>();
  return kept.map((fault) => {
    const { code, message, fix } = fault;
    const count = (shown.get(code) ?? 0) + 1;
    shown.set(code, count);
    const more = count === maxFaultsOfRule ? (counts.get(code) ?? 0) - count : 0;
    return {
      ...fault,
      message: fitText(message) + (more > 0 ? `; and ${more} more of this kind` : ""),
      fix: fitText(fix),
    };
  });
}

function fitText(text: string): string {
  return withoutControls(cutCodePoints(text, longestText));
}
