export { skillLimits } from "./archive/skill-limits.ts";
export { parseSource } from "./source/parse-source.ts";
export { sourceKindOf } from "./source/kinds.ts";
export type { PublishableSkill, SourceDriver, SourceDriverOptions } from "./source/source-kind.ts";
export { isCut, isLoopbackHost, redactionMark, toLabel } from "./source/source-label.ts";

/** Where skills of others come from, as a person names it. */
export interface Source {
  /** As people see it: without user information, query, fragment or the token of a share path. */
  readonly label: string;
  /** `auto`: what is there is found out by asking. `scheme`: its label begins with the scheme of a `SourceKind`. */
  readonly kind: "auto" | "descriptor" | "registry" | "git" | "marketplace" | "scheme";
  /** Absolute, http or https; of git also ssh where a person says so. Of a `scheme`: where it is, for rules about addresses, or its label. */
  readonly url: string;
  /** What only a person may cause, such as "is read with your ssh keys": a lock alone does not. */
  readonly forPersons?: string;
  /** For a git source: a branch, a tag or a commit. Default: HEAD. */
  readonly ref?: string;
  /** For a git source: the directory to look in. */
  readonly path?: string;
}
