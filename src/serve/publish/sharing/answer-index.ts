import type { IncomingMessage, ServerResponse } from "node:http";
import { writeCachedResponse } from "../../cached-response.ts";
import type { Listings } from "./listing.ts";
import type { HttpCaller } from "../../http-door.ts";

export const indexPath = "/.well-known/skill-sharing";

/**
 * Answers the whole index, which consumers look at again and again, mostly to learn that nothing changed; without the routes, which would
 * take as long as the answer. False for other methods and for what has a query.
 */
export function answerIndex(
  { method, url, headers }: IncomingMessage,
  response: ServerResponse,
  { listings, caller }: { readonly listings: Listings; readonly caller: HttpCaller },
): boolean {
  if (method !== "GET" || url !== indexPath) return false;
  writeCachedResponse(response, listings.page("index", {}, caller), { caller, ifNoneMatch: headers["if-none-match"] });
  return true;
}
