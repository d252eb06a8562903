import { readExchange } from "./exchange.ts";
import type { RuleOrigin, ConformanceRule } from "./rule.ts";
import { conformanceRules } from "./rules.ts";
import type { TranscriptEntry, Side } from "./transcript.ts";

/** One broken rule at one place. */
export interface ConformanceFinding {
  readonly rule: string;
  readonly origin: RuleOrigin;
  readonly severity: ConformanceRule["severity"];
  readonly appliesTo: Side;
  readonly line: number;
  readonly message: string;
}

/** The most faults of one rule that a report has; one more finding counts the rest. */
const mostOfOneRule = 20;

/** Checks one connection by every rule; findings in the order of lines. Pure; never throws, whatever the entries contain. */
export function checkTranscript(entries: readonly TranscriptEntry[]): readonly ConformanceFinding[] {
  const exchange = readExchange(entries);
  const findings = conformanceRules.flatMap((rule): ConformanceFinding[] => {
    const { id, severity, appliesTo, source } = rule;
    const about = { rule: id, origin: source.origin, severity, appliesTo };
    const faults: ConformanceFinding[] = [];
    let surplus = 0;
    for (const { line, message } of rule.check(exchange)) {
      if (faults.length < mostOfOneRule) faults.push({ ...about, line, message });
      else surplus++;
    }
    const last = faults.at(-1);
    return surplus === 0 || last === undefined
      ? faults
      : [...faults, { ...about, line: last.line, message: `${surplus} more of these` }];
  });
  return findings.sort((a, b) => a.line - b.line);
}
