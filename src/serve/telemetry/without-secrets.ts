/** Text for the log without what may be secret in it: credentials, values of queries, paths of shared sets (`/s/<token>/`). */
export function withoutSecrets(text: string): string {
  return text
    .replace(unsafe, toEscape)
    .replace(/(\/s\/)[^/\s?#"']+/gi, "$1-")
    .replace(/\b(bearer|basic) +[^\s,"']+/gi, "$1 -")
    .replace(/(authorization["']?[:=]["' ]?)[^\s,"']+/gi, "$1-")
    .replace(/([?&][^=&\s#"']{0,64}=)[^&\s#"']+/g, "$1-")
    .replace(/(:\/\/)[^/\s@"']{1,256}@/g, "$1-@");
}

/** What JSON leaves as it is, and a terminal does not show as it is. */
const unsafe = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function toEscape(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

const mostPath = 256;
/** Names are words; tokens are long without a break, of both cases, or hexadecimal. */
const words = /^\.?[a-z0-9]{1,24}(?:[._-][a-z0-9]{1,24}){0,16}$/i;
const longHexadecimal = /^[0-9a-f-]{21,}$/;

/** The path of a request line as it may be logged: no query, and `-` for every segment that may be a token. Never throws. */
export function toLoggedPath(target: string): string {
  const path = decoded(/^[^?#]*/.exec(target.slice(0, mostPath))?.[0] ?? "");
  const segments = path.split("/");
  return segments.map((segment, index) => (isPlain(segment, segments[index - 1]) ? segment : "-")).join("/");
}

function isPlain(segment: string, before: string | undefined): boolean {
  if (segment === "" || before?.toLowerCase() === "s") return segment === "";
  return words.test(segment) && !longHexadecimal.test(segment) && (segment.length <= 20 || !/[A-Z]/.test(segment));
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // Not percent-encoded correctly: its segments do not look like names.
  }
}
