import { LimitedMap } from "../../base/limited-map.ts";
import type { HttpCaller, HttpDoor } from "../http-door.ts";
import type { Publication } from "../publish/publication.ts";

/** The place of one page among those that are kept. */
interface PageSlot {
  /** The JSON of the page as UTF-8, if it is kept: encoding it again for each answer takes longer than all else. */
  readonly bytes: Buffer | undefined;
  /** Keeps it, unless the skills have changed meanwhile. */
  readonly keep: (text: string) => void;
}

/** Pages of `list_skills` as JSON, of the skills that there are now. */
export interface ListedPages {
  /** Undefined for a page that is not kept. */
  slot(caller: HttpCaller, params: object | undefined): PageSlot | undefined;
}

const maxPages = 200;
/** Longer parameters, such as long queries, are rare. */
const maxKey = 512;

/**
 * Keeps pages until the skills, what is published, or the policy changes: a page depends on nothing else. Listing is what clients do
 * most, and its answer is the same for all callers with one view.
 */
export function createListedPages({ publication }: Pick<HttpDoor, "publication">): ListedPages {
  let of: Publication | undefined;
  let pages = new LimitedMap<string, Buffer>(maxPages);

  function current(): LimitedMap<string, Buffer> {
    const now = publication();
    if (of !== now) {
      of = now;
      pages = new LimitedMap(maxPages);
    }
    return pages;
  }

  function keyOf({ view, tools }: HttpCaller, params: object | undefined): string | undefined {
    if (tools.tools?.includes("list_skills") === false || Array.isArray(params)) return undefined;
    // No parameter holds others: such a call is refused, and writing a deep value as JSON would overflow the stack.
    if (Object.values(params ?? {}).some((value) => typeof value === "object")) return undefined;
    const key = `${view}\n${params === undefined ? "" : JSON.stringify(params)}`;
    return key.length <= maxKey + view.length ? key : undefined;
  }

  return {
    slot(caller, params) {
      const key = keyOf(caller, params);
      if (key === undefined) return undefined;
      // After a change, what is kept in these is never read again.
      const kept = current();
      return { bytes: kept.get(key), keep: (text) => kept.set(key, Buffer.from(text)) };
    },
  };
}
