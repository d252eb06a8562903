/**
 * The header with the key of a page's session. Browsers send cookies of 127.0.0.1 to every port there, and so to servers of other people; the
 * key stays in the page's sessionStorage, which no other port can read.
 */
export const sessionHeader = "x-acp-skills-session";

/** The answer to `POST /api/session`. */
export interface BrowseSessionResponse {
  readonly key: string;
}
