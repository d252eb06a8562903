export { skillLimits } from "./archive/skill-limits.ts";
export { parseSource } from "./source/parse-source.ts";
export { sourceKindOf } from "./source/kinds.ts";
export type { PublishableSkill, SourceDriver, SourceDriverOptions } from "./source/source-kind.ts";
export { isCut, isLoopbackHost, redactionMark, toLabel } from "./source/source-label.ts";

/** The source of remote skills, as the user names it. */
export interface Source {
  /** The source as users see it: without user information, query, fragment or the token of a share path. */
  readonly label: string;
  /** `auto`: requests find out what is there. `scheme`: the label begins with the scheme of a `SourceKind`. */
  readonly kind: "auto" | "descriptor" | "registry" | "git" | "marketplace" | "scheme";
  /** The absolute URL: http or https; for git also ssh if the user names it. For a `scheme`: the URL for address rules, or the label. */
  readonly url: string;
  /** The effect that only the user may cause, such as "is read with your ssh keys": a lock alone must not cause it. */
  readonly forPersons?: string;
  /** For a git source: a branch, a tag or a commit. Default: HEAD. */
  readonly ref?: string;
  /** For a git source: the directory to read. */
  readonly path?: string;
}

/** A source as tokens and downloads need it. */
export type SourceUrl = Pick<Source, "url">;
