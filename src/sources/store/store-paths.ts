import path from "node:path";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { attempt } from "../../base/failures/system-error.ts";
import { makeOwnDirectories } from "../../base/paths/directories.ts";
import type { Source } from "../source.ts";
import { digestForm } from "../../base/text/content.ts";
import { isSlug } from "../../skills/skill.ts";

/**
 * The paths of the copies of remote skills. Only this user may enter; several processes share them.
 *
 *     store/<digest>/<slug>/…       one version of one skill; its files never change
 *     sources/<key>/skills/<slug>   a link to one of those, which the catalog reads; replaced as a whole
 *     sources/<key>/state.json      the wanted links, and the time of the next refresh
 *     incoming/<random>/…           files that are being written
 *     trash/<random>/…              files that are being removed
 *     turns/                        the turns of processes that change links and states
 */
export type StorePaths = Readonly<Record<"store" | "sources" | "incoming" | "trash" | "turns", string>>;

export function storePaths(dataDirectory: string, room: "remote" | "cluster" = "remote"): StorePaths {
  const at = (name: string): string => path.join(dataDirectory, room, name);
  return {
    store: at("store"),
    sources: at("sources"),
    incoming: at("incoming"),
    trash: at("trash"),
    turns: at("turns"),
  };
}

/** The paths of one source. */
export type SourcePaths = Readonly<Record<"directory" | "skills" | "state", string>>;

export function sourcePaths({ sources }: Pick<StorePaths, "sources">, source: Source | string): SourcePaths {
  const directory = path.join(sources, typeof source === "string" ? source : sourceKey(source));
  return { directory, skills: path.join(directory, "skills"), state: path.join(directory, "state.json") };
}

/** Returns the path of the copy with a digest. */
export function copyPath(
  { store }: Pick<StorePaths, "store">,
  { digest, slug }: { readonly digest: string; readonly slug: string },
): string {
  return path.join(store, digest.replace(/^sha256:/, ""), slug);
}

const ownerOnly = 0o700;

/** Creates missing directories. Throws UNREADABLE if others could write there. */
export function makeStorePaths(paths: StorePaths): void {
  makeOwnDirectories(path.dirname(paths.store), ownerOnly);
  for (const made of Object.values(paths)) makeOwnDirectories(made, ownerOnly);
}

export function makeSourcePaths({ directory, skills }: SourcePaths): void {
  for (const made of [directory, skills]) makeOwnDirectories(made, ownerOnly);
}

/** Returns a name for a source's directory: the same at each start, different for each source, in lower case, without its token. */
export function sourceKey({ kind, url, label, ref = "", path = "" }: Source): string {
  // A slash at the end of a directory makes no difference.
  const made = kind === "auto" ? url.replace(/\/$/, "") : kind === "scheme" ? label : url;
  const digest = createHash("sha256").update([kind, made, ref, path].join("\n")).digest("hex");
  const host = new URL(url).hostname.toLowerCase().replace(/[^a-z0-9.-]/g, "");
  return `${host.slice(0, 60).replace(/^[.-]+/, "") || "source"}-${digest.slice(0, 24)}`;
}

/** A skill of a source that has a copy. */
export interface CopiedSkill {
  /** The name in the index; unique in a source. */
  readonly name: string;
  /** The slug; unique in a source. */
  readonly slug: string;
  /** The digest of the files, `sha256:…`, as describe_skill reports it. */
  readonly digest: string;
  readonly bytes: number;
  /** For a source that is a repository: the commit that the files are from. */
  readonly commit?: string;
  /** The id of the downloaded content; absent if only another download shows whether it changed. */
  readonly pin?: string;
}

/** The state of a source, from which its links are made. Times are in milliseconds since 1970. */
export interface SourceState {
  readonly label: string;
  readonly commit?: string | undefined;
  /** The values for `If-None-Match`, by URL. */
  readonly etags?: Readonly<Record<string, string>> | undefined;
  /** The time of the last refresh without a failure. */
  readonly lastGood?: number;
  readonly lastLook?: number;
  readonly nextLook: number;
  /** The number of failures in a row. */
  readonly failures: number;
  /** Why the last refresh failed. */
  readonly failure?: string | undefined;
  /** One sentence without a full stop for each listed item that could not be used. */
  readonly problems: readonly string[];
  /** The copied skills, ordered by name. */
  readonly skills: readonly CopiedSkill[];
}

const version = 1;

export function formatState(state: SourceState): string {
  return `${JSON.stringify({ format: version, ...state })}\n`;
}

/** Reads a state; undefined if there is none, or this version did not write it: then everything is downloaded again. */
export function readState(file: string): SourceState | undefined {
  // The source was never read, its directory is unreadable, a disk failed, or the user edited the file.
  return attempt(() => {
    const { format, ...state } = JSON.parse(readFileSync(file, "utf8")) as SourceState & { readonly format: unknown };
    const isOurs =
      format === version &&
      typeof state.label === "string" &&
      Number.isFinite(state.nextLook) &&
      Number.isSafeInteger(state.failures) &&
      Array.isArray(state.problems) &&
      Array.isArray(state.skills) &&
      state.skills.every(isCopied);
    return isOurs ? state : undefined;
  }, undefined);
}

/** Whether an entry is valid. Its slug and digest become paths, and a damaged file must not lead elsewhere. */
function isCopied({ name, slug, digest, bytes }: Partial<CopiedSkill>): boolean {
  return (
    typeof name === "string" &&
    typeof slug === "string" &&
    isSlug(slug) &&
    typeof digest === "string" &&
    digestForm.test(digest) &&
    Number.isSafeInteger(bytes)
  );
}

/** Returns the state of a source that was never read. */
export function newState({ label }: Pick<SourceState, "label">, now: number): SourceState {
  return { label, nextLook: now, failures: 0, problems: [], skills: [] };
}
