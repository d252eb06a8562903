import { realpathSync, statSync } from "node:fs";
import { namesIn } from "../../base/paths/names-in.ts";
import type { Source } from "../source.ts";
import { readState } from "./source-state.ts";
import { copyPlace, sourcePlaces, storePlaces } from "./store-places.ts";
import type { StorePlaces } from "./store-places.ts";

/** A directory of skills that a source publishes, for a catalog. */
export interface SourceRoot {
  readonly path: string;
  readonly remote: {
    readonly label: string;
    readonly provenanceOf: (directory: string) => { readonly digest: string; readonly commit?: string } | undefined;
  };
}

type Provenances = ReadonlyMap<string, { readonly digest: string; readonly commit?: string }>;

/** Reads nothing until it is asked where a skill is from. */
export function sourceRoot(dataDirectory: string, source: Source): SourceRoot {
  return rootAt(storePlaces(dataDirectory), source, source.label);
}

/**
 * A source that was read before and has a copy of these bytes, by its label: the label alone may be no source, because it is without the
 * token of a share.
 */
export function rootWithCopy(
  dataDirectory: string,
  { label, digest }: { readonly label: string; readonly digest: string },
): SourceRoot | undefined {
  const places = storePlaces(dataDirectory);
  const key = namesIn(places.sources).find((name) => {
    const state = readState(sourcePlaces(places, name).state);
    return state?.label === label && state.skills.some((copy) => copy.digest === digest);
  });
  return key === undefined ? undefined : rootAt(places, key, label);
}

function rootAt(places: StorePlaces, source: Source | string, label: string): SourceRoot {
  const { skills, state } = sourcePlaces(places, source);
  let known: { readonly stamp: string; readonly provenances: Provenances } | undefined;

  function provenances(): Provenances {
    const stamp = stampOf(state);
    if (stamp === undefined) return new Map();
    if (known?.stamp === stamp) return known.provenances;
    const store = realPathOf(places.store);
    const copies = readState(state)?.skills ?? [];
    const found = new Map(
      copies.map(({ digest, slug, commit }) => [
        copyPlace({ store }, { digest, slug }),
        { digest, ...(commit !== undefined && { commit }) },
      ]),
    );
    known = { stamp, provenances: found };
    return found;
  }

  return { path: skills, remote: { label, provenanceOf: (directory) => provenances().get(directory) } };
}

/** The file is always replaced as a whole. */
function stampOf(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats && `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
}

function realPathOf(directory: string): string {
  try {
    return realpathSync.native(directory);
  } catch {
    return directory; // Nothing was ever stored.
  }
}
