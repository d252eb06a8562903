import { cutCodePoints } from "../text/code-points.ts";
import { hasControls, withoutControls } from "../text/control-characters.ts";

/** Maximum number of findings per rule and file. More take time, and all of them are sent to the editor. */
export const maxFaultsOfRule = 20;
/** Maximum length of a message or fix, which may quote the file. */
const longestText = 500;

interface AnyFault {
  readonly code: string;
  readonly message: string;
  readonly fix: string;
}

/**
 * Bounds the findings of a file. Keeps the first faults of each rule, in order; the message of the last one contains the number of
 * omitted ones. Truncates texts and removes control characters from them.
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
