import type { DirectoryRecord } from "../files/read-directory.ts";
import type { Root } from "./roots.ts";
import type { Finding } from "../rules/rules.ts";

/** A directory with a SKILL.md, and the roots under which it was found, most important first. */
export interface FoundSkill {
  readonly record: DirectoryRecord;
  readonly roots: readonly Root[];
  /** Equal for copies; absent where no other skill of its slug and root has the same SKILL.md. */
  readonly content?: string;
}

/** Everything below some roots, in order of precedence: by root, then by path. */
export interface Found {
  readonly skills: readonly FoundSkill[];
  /** What is wrong, apart from what the records of the skills say. */
  readonly findings: readonly Finding[];
}

/** Found so far. What is told twice counts once. */
export interface FoundSoFar extends Found {
  addSkill(record: DirectoryRecord, root: Root): void;
  addFinding(finding: Finding | undefined): void;
}

export function nothingFound(): FoundSoFar {
  const skills = new Map<string, FoundSkill>();
  /** One list a root, shared by all the skills that no other root has. */
  const alone = new Map<Root, readonly Root[]>();
  const findings = new Map<string, Finding>();
  return {
    get skills() {
      return [...skills.values()];
    },
    get findings() {
      return [...findings.values()];
    },
    addSkill(record, root) {
      const found = skills.get(record.identity);
      if (found === undefined) {
        const roots = alone.get(root) ?? [root];
        alone.set(root, roots);
        skills.set(record.identity, { record, roots });
      } else if (!found.roots.includes(root)) {
        skills.set(record.identity, { record: found.record, roots: [...found.roots, root] });
      }
    },
    addFinding(finding) {
      if (finding !== undefined) findings.set(`${finding.code} ${finding.file}`, finding);
    },
  };
}
