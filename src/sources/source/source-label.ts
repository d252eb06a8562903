import { SkillsError } from "../../base/errors.ts";
import { attempt } from "../../base/failures/system-error.ts";

/** Stands for the token of a share path, or for a query, where people see a URL. */
export const redactionMark = "…";

/** Whether a label or the URL of a lock does not have the secret part. */
export function isCut(url: string): boolean {
  return url.includes(redactionMark) || url.toLowerCase().includes(encodeURIComponent(redactionMark).toLowerCase());
}

/** A URL as people may see it, and logs: without user information, query and fragment, and without the token of a share path (`/s/TOKEN/`). */
export function toLabel(url: string | URL): string {
  const { protocol, host, pathname } = new URL(url);
  const shown = pathname.split("/");
  for (let at = 1; at < shown.length; at++) {
    if (decodedSegment(shown[at - 1] ?? "") === "s" && shown[at] !== "") shown[at] = redactionMark;
  }
  return `${protocol}//${host}${shown.join("/")}`;
}

/** A segment of a path; what is not an encoding is what it says. */
export function decodedSegment(segment: string): string {
  return attempt(() => decodeURIComponent(segment), segment);
}

/** A text that names no source. `why` is a clause that never repeats the text: it may hold a token. */
export function invalidSource(why: string, example = "example.com"): SkillsError {
  const forms = "a domain, a URL, OWNER/REPO of GitHub, git:URL, registry:URL, npm:PACKAGE or mcp:URL";
  return new SkillsError("INVALID_OPTIONS", `not a source: ${why}; expected ${forms}, for example ${example}`);
}

/** Whether the host of a URL (`URL.hostname`) is by its name this machine. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])\.?$/i.test(hostname);
}

/** What a source sent cannot be used. `sentence` is without its full stop. */
export function badSource(sentence: string, cause?: unknown): SkillsError {
  return new SkillsError("SOURCE_INVALID", `${sentence}.`, cause === undefined ? {} : { cause });
}
