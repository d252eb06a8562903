import type { DirectoryRecord } from "./read-directory.ts";
import type { Root } from "./roots.ts";
import type { Finding } from "../rules/rules.ts";

/** A directory with a SKILL.md, and the roots under which it was found, in order of precedence. */
export interface FoundSkill {
  readonly record: DirectoryRecord;
  readonly roots: readonly Root[];
  /** Equal for copies; absent if no other skill with its slug and root has the same SKILL.md. */
  readonly content?: string;
}

/** Everything below some roots, in order of precedence: by root, then by path. */
export interface Found {
  readonly skills: readonly FoundSkill[];
  /** In addition to those in the records of the skills. */
  readonly findings: readonly Finding[];
}

/** The result of a scan in the making. Duplicates count once. */
export class FoundSoFar implements Found {
  readonly #skills = new Map<string, FoundSkill>();
  /** One list per root, shared by all skills that no other root has. */
  readonly #alone = new Map<Root, readonly Root[]>();
  readonly #findings = new Map<string, Finding>();

  get skills(): FoundSkill[] {
    return [...this.#skills.values()];
  }

  get findings(): Finding[] {
    return [...this.#findings.values()];
  }

  addSkill(record: DirectoryRecord, root: Root): void {
    const found = this.#skills.get(record.identity);
    if (found === undefined) {
      const roots = this.#alone.get(root) ?? [root];
      this.#alone.set(root, roots);
      this.#skills.set(record.identity, { record, roots });
    } else if (!found.roots.includes(root)) {
      this.#skills.set(record.identity, { record: found.record, roots: [...found.roots, root] });
    }
  }

  addFinding(finding: Finding | undefined): void {
    if (finding !== undefined) this.#findings.set(`${finding.code} ${finding.file}`, finding);
  }
}
