import path from "node:path";
import { wholeFile } from "./disk-findings.ts";
import { matchesIgnorePattern, parseIgnorePattern } from "./ignore-pattern.ts";
import type { IgnorePattern } from "./ignore-pattern.ts";
import type { Finding } from "../rules/rules.ts";
import type { Steps } from "../../base/slices.ts";

/** The patterns of `.gitignore` and `.ignore` files; the deepest file comes last and decides. */
export type IgnoreRules = readonly { readonly base: string; readonly patterns: readonly IgnoreRule[] }[];

export interface IgnoreRule extends IgnorePattern {
  /** Whether it is from `.gitignore`; `.ignore` is read by search tools only, and excludes skills deliberately. */
  readonly ofGit: boolean;
}

const mostPatterns = 2000;
/** The hardest pattern takes a tenth of a millisecond for the longest name. */
const patternsBetweenPauses = 16;

/** The patterns of an ignore file, and a finding for those that are not applied. */
export function readIgnoreText(file: string, text: string): { patterns: IgnoreRule[]; findings: Finding[] } {
  const patterns: IgnoreRule[] = [];
  const ofGit = file.endsWith(".gitignore");
  const findings: Finding[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const pattern = parseIgnorePattern(line);
    if (pattern === undefined) continue;
    if (pattern !== "excessive" && patterns.length < mostPatterns) patterns.push({ ...pattern, ofGit });
    else if (findings.length === 0) findings.push({ ...notApplied(file, pattern), line: index + 1 });
    if (patterns.length === mostPatterns && findings.length > 0) break;
  }
  return { patterns, findings };
}

function notApplied(file: string, pattern: IgnorePattern | "excessive"): Finding {
  return pattern === "excessive"
    ? wholeFile(
        "ignore-pattern-excessive",
        file,
        "a pattern exceeds 512 characters or 32 wildcards and is not applied",
        "Shorten it, or split it into several patterns.",
      )
    : wholeFile(
        "ignore-pattern-excessive",
        file,
        `only the first ${mostPatterns} patterns of the file are applied`,
        "Ignore whole directories instead of their content.",
      );
}

/** The rule that ignores a directory. Parent directories must have been checked before. */
export function* findIgnoreRule(rules: IgnoreRules, directory: string): Steps<IgnoreRule | undefined> {
  let count = 0;
  for (let index = rules.length - 1; index >= 0; index--) {
    const rule = rules[index];
    if (rule === undefined) continue;
    const relative = path.relative(rule.base, directory);
    if (relative === "" || relative.startsWith("..")) continue;
    const names = relative.split(path.sep);
    for (let last = rule.patterns.length - 1; last >= 0; last--) {
      if (++count % patternsBetweenPauses === 0) yield undefined;
      const pattern = rule.patterns[last];
      if (pattern !== undefined && matchesIgnorePattern(pattern, names)) {
        return pattern.negated ? undefined : pattern;
      }
    }
  }
  return undefined;
}
