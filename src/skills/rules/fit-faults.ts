import { cutCodePoints } from "../text/code-points.ts";
import { hasControls, withoutControls } from "../text/control-characters.ts";

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
export function fitFaults<Fault extends AnyFault>(faults: readonly Fault[]): readonly Fault[] {
  if (faults.length <= maxFaultsOfRule) return faults.every(isFit) ? faults : faults.map(fit);
  const counts = new Map<string, number>();
  const kept = faults.filter(({ code }) => {
    const count = (counts.get(code) ?? 0) + 1;
    counts.set(code, count);
    return count <= maxFaultsOfRule;
  });
  const shown = new Map<string, number>();
  return kept.map((fault) => {
    const { code } = fault;
    const count = (shown.get(code) ?? 0) + 1;
    shown.set(code, count);
    const more = count === maxFaultsOfRule ? (counts.get(code) ?? 0) - count : 0;
    const fitted = fit(fault);
    return more > 0 ? { ...fitted, message: `${fitted.message}; and ${more} more of this kind` } : fitted;
  });
}

function isFit({ message, fix }: AnyFault): boolean {
  return message.length <= longestText && fix.length <= longestText && !hasControls(message) && !hasControls(fix);
}

function fit<Fault extends AnyFault>(fault: Fault): Fault {
  return isFit(fault) ? fault : { ...fault, message: fitText(fault.message), fix: fitText(fault.fix) };
}

function fitText(text: string): string {
  return withoutControls(cutCodePoints(text, longestText));
}
