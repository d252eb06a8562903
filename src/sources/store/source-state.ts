import { readFileSync } from "node:fs";
import { digestForm } from "../../base/text/content.ts";
import type { IndexForm } from "../reader.ts";

/** A skill of a source of which there is a copy. */
export interface CopiedSkill {
  /** As its index names it; unique in a source. */
  readonly name: string;
  /** Unique in a source. */
  readonly slug: string;
  readonly version?: string;
  /** The publisher's id. */
  readonly id?: string;
  /** `sha256:…` of its files, as describe_skill gives it. */
  readonly digest: string;
  readonly bytes: number;
  /** Of a source that is a repository: the commit that the files are from. */
  readonly commit?: string;
  /** Identifies what was downloaded; absent where only downloading it again shows whether it changed. */
  readonly pin?: string;
}

/** What is known of a source: the truth from which its links are made. Times are in milliseconds since 1970. */
export interface SourceState {
  readonly label: string;
  readonly kind: string;
  readonly form?: IndexForm;
  readonly commit?: string;
  /** For `If-None-Match`, by URL. */
  readonly etags?: Readonly<Record<string, string>>;
  /** When the source was last read without a failure. */
  readonly lastGood?: number;
  readonly lastLook?: number;
  readonly nextLook: number;
  /** In a row. */
  readonly failures: number;
  /** Why the last look failed. */
  readonly failure?: string;
  /** For each thing that the source lists and that could not be used, a sentence without a full stop. */
  readonly problems: readonly string[];
  /** Ordered by name. */
  readonly skills: readonly CopiedSkill[];
}

const version = 1;
const slugForm = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

export function formatState(state: SourceState): string {
  return `${JSON.stringify({ format: version, ...state })}\n`;
}

/** Undefined if there is none, or it is not one that this version wrote: then everything is downloaded again. */
export function readState(file: string): SourceState | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return undefined; // The source was never read, or its directory cannot be.
  }
  return parseState(text);
}

function parseState(text: string): SourceState | undefined {
  try {
    const { format, ...state } = JSON.parse(text) as SourceState & { readonly format: unknown };
    const isOurs =
      format === version &&
      typeof state.label === "string" &&
      typeof state.kind === "string" &&
      Number.isFinite(state.nextLook) &&
      Number.isSafeInteger(state.failures) &&
      Array.isArray(state.problems) &&
      Array.isArray(state.skills) &&
      state.skills.every(isCopied);
    return isOurs ? state : undefined;
  } catch {
    return undefined; // A disk that failed, or a person who edited it.
  }
}

/** What paths are made of is checked, because a damaged file must not lead elsewhere. */
function isCopied({ name, slug, digest, bytes }: Partial<CopiedSkill>): boolean {
  return (
    typeof name === "string" &&
    typeof slug === "string" &&
    slug.length <= 64 &&
    slugForm.test(slug) &&
    typeof digest === "string" &&
    digestForm.test(digest) &&
    Number.isSafeInteger(bytes)
  );
}

/** Of a source that was never read. */
export function newState({ label, kind }: Pick<SourceState, "label" | "kind">, now: number): SourceState {
  return { label, kind, nextLook: now, failures: 0, problems: [], skills: [] };
}
