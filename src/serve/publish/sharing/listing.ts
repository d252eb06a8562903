import { SkillsError } from "../../../base/errors.ts";
import { byCodePoint } from "../../../base/text/code-points.ts";
import { capabilityTypes } from "../../../wire/skill-sharing.ts";
import { type CachedResponse, toCachedResponse } from "../../cached-response.ts";
import type { Publication, PublishedSkill } from "../publication.ts";
import { type Publisher, providerOf, sharingProtocol, toIndexEntry } from "./descriptor.ts";
import type { HttpExchange, HttpCaller, ServeContext } from "../../serve-context.ts";

/** The maximum number of entries on a page; a larger catalog has several pages. */
export const maxEntries = 1_000;

/** The query of an index. */
export interface ListingQuery {
  /** The type to which skills are limited; an unknown type has none. */
  readonly type?: string | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
  readonly limit?: string | undefined;
}

/** The form of a page: `index` names its provider, `registry` is the answer of a registry. */
type Form = "index" | "registry";

type Viewer = Pick<HttpCaller, "view" | "discovers">;

/** The indexes of the published skills. First pages are cached for each view, until the publication changes. */
export interface Listings {
  /** Returns a page. Throws VALIDATION_ERROR or INVALID_CURSOR. */
  page(form: Form, query: ListingQuery, viewer: Viewer): CachedResponse;
}

export function createListings(publication: () => Publication, publisher: () => Publisher): Listings {
  let of: Publication | undefined;
  /** First pages by form, type and view. Their number is limited, because only configured callers have views. */
  const pages = new Map<string, CachedResponse>();
  const entries = new Map<PublishedSkill, string>();

  function entryOf(published: PublishedSkill): string {
    const entry = entries.get(published) ?? JSON.stringify(toIndexEntry(published, publisher()));
    entries.set(published, entry);
    return entry;
  }

  function write(form: Form, query: ListingQuery, viewer: Viewer): CachedResponse {
    const { skills, next } = selectPage(publication().skills, query, viewer.discovers);
    const head = { protocol: sharingProtocol, ...(form === "index" && { provider: providerOf(publisher()) }) };
    const tail = next === undefined ? "" : `,"next_cursor":${JSON.stringify(next)}`;
    return toCachedResponse(`${JSON.stringify(head).slice(0, -1)},"skills":[${skills.map(entryOf).join(",")}]${tail}}`);
  }

  return {
    page(form, query, viewer) {
      const now = publication();
      if (of !== now) {
        of = now;
        pages.clear();
        entries.clear();
      }
      const { type = "", cursor, limit } = query;
      if (cursor !== undefined || limit !== undefined) return write(form, query, viewer);
      const isKnown = (capabilityTypes as readonly string[]).includes(type);
      const key = `${form} ${query.type === undefined ? "all" : isKnown ? type : "unknown"} ${viewer.view}`;
      const page = pages.get(key) ?? write(form, query, viewer);
      pages.set(key, page);
      return page;
    },
  };
}

/** Selects the skills of a page, and the cursor of the next one. The filter follows the check of access, and never loosens it. Pure. */
export function selectPage(
  published: readonly PublishedSkill[],
  { type, cursor, limit }: ListingQuery,
  discovers: Viewer["discovers"],
): { readonly skills: readonly PublishedSkill[]; readonly next: string | undefined } {
  const size = limit === undefined ? maxEntries : toSize(limit);
  const after = cursor === undefined ? undefined : fromCursor(cursor);
  const found: PublishedSkill[] = [];
  for (const one of published) {
    if (after !== undefined && byCodePoint(one.skill.slug, after) <= 0) continue;
    if (!discovers(one) || (type !== undefined && one.type !== type)) continue;
    const last = found.at(-1);
    if (last !== undefined && found.length === size) return { skills: found, next: toCursor(last.skill.slug) };
    found.push(one);
  }
  return { skills: found, next: undefined };
}

function toSize(limit: string): number {
  const size = /^\d{1,9}$/.test(limit) ? Number(limit) : 0;
  if (size >= 1) return Math.min(size, maxEntries);
  throw new SkillsError("VALIDATION_ERROR", `limit must be a whole number from 1 to ${maxEntries}.`);
}

/** Formats a cursor: "after this skill", even if that is gone. It protects nothing, because each page checks access. */
function toCursor(slug: string): string {
  return Buffer.from(`after ${slug}`).toString("base64url");
}

function fromCursor(cursor: string): string {
  const slug = /^after ([a-z0-9-]{1,64})$/.exec(Buffer.from(cursor.slice(0, 200), "base64url").toString("latin1"))?.[1];
  if (slug !== undefined && toCursor(slug) === cursor) return slug;
  throw new SkillsError("INVALID_CURSOR", "The cursor is not one of this index; omit it to start from the first page.");
}

/** Finds the skill that a path names, if the caller may know it. Throws SKILL_NOT_FOUND, the same for hidden and absent skills. */
export function findDiscovered(
  { publication }: Pick<ServeContext, "publication">,
  exchange: HttpExchange,
): PublishedSkill {
  const slug = exchange.param("slug");
  const published = publication().bySlug.get(slug);
  if (published !== undefined && exchange.caller.discovers(published)) return published;
  throw new SkillsError("SKILL_NOT_FOUND", `There is no skill ${JSON.stringify(slug.slice(0, 64))} here.`);
}
