import { createHash } from "node:crypto";
import path from "node:path";
import { makeOwnDirectories } from "../../base/paths/directories.ts";
import type { Source } from "../source.ts";

/**
 * Where copies of skills of others lie. Only this user may enter; several processes share it.
 *
 *     store/<digest>/<slug>/…       one version of one skill; its files never change
 *     sources/<key>/skills/<slug>   a link to one of those: what the catalog reads, replaced as a whole
 *     sources/<key>/state.json      what the links are to be, and when to look next
 *     incoming/<random>/…           what is being written
 *     trash/<random>/…              what is being removed
 *     turns/                        who may change links and states
 */
export interface StorePlaces {
  readonly store: string;
  readonly sources: string;
  readonly incoming: string;
  readonly trash: string;
  readonly turns: string;
}

export function storePlaces(dataDirectory: string): StorePlaces {
  const at = (name: string): string => path.join(dataDirectory, "remote", name);
  return {
    store: at("store"),
    sources: at("sources"),
    incoming: at("incoming"),
    trash: at("trash"),
    turns: at("turns"),
  };
}

/** The places of one source. */
export interface SourcePlaces {
  readonly directory: string;
  readonly skills: string;
  readonly state: string;
}

export function sourcePlaces({ sources }: Pick<StorePlaces, "sources">, source: Source | string): SourcePlaces {
  const directory = path.join(sources, typeof source === "string" ? source : sourceKey(source));
  return { directory, skills: path.join(directory, "skills"), state: path.join(directory, "state.json") };
}

/** Where the skill with a digest lies. */
export function copyPlace(
  { store }: Pick<StorePlaces, "store">,
  { digest, slug }: { readonly digest: string; readonly slug: string },
): string {
  return path.join(store, digest.replace(/^sha256:/, ""), slug);
}

const ownerOnly = 0o700;

/** Creates the places that are missing. Throws UNREADABLE if others could write there. */
export function makeStorePlaces(places: StorePlaces): void {
  makeOwnDirectories(path.dirname(places.store), ownerOnly);
  for (const place of Object.values<string>({ ...places })) makeOwnDirectories(place, ownerOnly);
}

export function makeSourcePlaces({ directory, skills }: SourcePlaces): void {
  for (const place of [directory, skills]) makeOwnDirectories(place, ownerOnly);
}

/** A name for a source's directory: the same at each start, different for each source, in lower case, without its token. */
export function sourceKey({ kind, url, ref = "", path = "" }: Source): string {
  // Of a directory, the slash at its end is no difference.
  const place = kind === "auto" ? url.replace(/\/$/, "") : url;
  const digest = createHash("sha256").update([kind, place, ref, path].join("\n")).digest("hex");
  const host = new URL(url).hostname.toLowerCase().replace(/[^a-z0-9.-]/g, "");
  return `${host.slice(0, 60).replace(/^[.-]+/, "") || "source"}-${digest.slice(0, 24)}`;
}
