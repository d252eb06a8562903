import { SkillsError } from "../../base/errors.ts";
import { attempt } from "../../base/failures/system-error.ts";

/** The mark that replaces the token of a share path, or a query, in URLs that users see. */
export const redactionMark = "…";

/** Whether the secret was cut from a label or the URL of a lock. */
export function isCut(url: string): boolean {
  return url.includes(redactionMark) || url.toLowerCase().includes(encodeURIComponent(redactionMark).toLowerCase());
}

/** Returns a URL for users and logs, without user information, query, fragment and the token of a share path (`/s/TOKEN/`). */
export function toLabel(url: string | URL): string {
  const { protocol, host, pathname } = new URL(url);
  const shown = pathname.split("/");
  for (let at = 1; at < shown.length; at++) {
    if (decodedSegment(shown[at - 1] ?? "") === "s" && shown[at] !== "") shown[at] = redactionMark;
  }
  return `${protocol}//${host}${shown.join("/")}`;
}

/** Decodes a segment of a path; an invalid encoding is returned as it is. */
export function decodedSegment(segment: string): string {
  return attempt(() => decodeURIComponent(segment), segment);
}

/** Returns the error for a text that names no source. `why` is a clause that never repeats the text: it may hold a token. */
export function invalidSource(why: string, example = "example.com"): SkillsError {
  const forms = "a domain, a URL, OWNER/REPO of GitHub, git:URL, registry:URL, npm:PACKAGE or mcp:URL";
  return new SkillsError("INVALID_OPTIONS", `not a source: ${why}; expected ${forms}, for example ${example}`);
}

/** Whether the host of a URL (`URL.hostname`) is this machine by its name. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])\.?$/i.test(hostname);
}

/** Returns the error for unusable content of a source. `sentence` is without its full stop. */
export function badSource(sentence: string, cause?: unknown): SkillsError {
  return new SkillsError("SOURCE_INVALID", `${sentence}.`, cause === undefined ? {} : { cause });
}
