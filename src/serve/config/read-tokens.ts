import { toTokenDigest } from "../../wire/http/admission.ts";
import type { JsonPath } from "../../base/json/json-text.ts";
import type { WrittenConfig } from "./config-schema.ts";

/** The digests of the tokens, in the order of the callers and shares. */
export interface ConfigTokens {
  readonly callers: readonly Buffer[];
  readonly shares: readonly Buffer[];
}

const remedy = "Use the one that acp-skills serve --new-token prints.";

/** Hashes what the environment holds. Refuses tokens that are missing, could be guessed or are used twice; messages never contain one. */
export function readTokens(
  { callers = [], shares = [] }: WrittenConfig,
  env: Readonly<Record<string, string | undefined>>,
  report: (place: JsonPath, message: string, fix: string) => void,
): ConfigTokens {
  const seen = new Map<string, string>();
  const read = (list: "callers" | "shares", index: number, written: string, owner: string): Buffer => {
    const place = [list, index, "token"];
    const digest = toDigest(written, list === "shares" ? "path" : "header", env);
    if ("message" in digest) {
      report(place, digest.message, digest.fix);
      return Buffer.alloc(0);
    }
    const key = digest.toString("hex");
    const other = seen.get(key);
    if (other === undefined) seen.set(key, owner);
    else report(place, `the token of ${owner} is also that of ${other}`, "Give each a token of its own.");
    return digest;
  };
  return {
    callers: callers.map(({ name, token }, index) => read("callers", index, token, `caller ${name}`)),
    shares: shares.map(({ name, token }, index) => read("shares", index, token, `share ${name}`)),
  };
}

function toDigest(
  written: string,
  form: "header" | "path",
  env: Readonly<Record<string, string | undefined>>,
): Buffer | { readonly message: string; readonly fix: string } {
  const [, hex] = /^sha256:([0-9a-f]{64})$/.exec(written) ?? [];
  if (hex !== undefined) return Buffer.from(hex, "hex");
  const name = written.slice("env:".length);
  const token = env[name];
  if (token === undefined || token === "")
    return { message: `the environment variable ${name} is not set`, fix: `Set it to a token. ${remedy}` };
  const fault = tokenFault(token, form);
  return fault === undefined ? toTokenDigest(token) : { message: `the token in ${name} ${fault}`, fix: remedy };
}

/** What a token needs at least, so that nobody can guess it. */
const leastTokenBits = 128;

const fewestCharacters = 8;

const longest = 512;

/**
 * Why a token is refused, by its length and alphabet: a clause that never contains the token. Undefined if it could be random enough; 22
 * characters of base64url or 32 hexadecimal digits are.
 */
export function tokenFault(token: string, form: "header" | "path"): string | undefined {
  if (!/^[\x21-\x7e]+$/.test(token)) return "is empty, or has characters other than printable ASCII without blanks";
  if (form === "path" && !/^[A-Za-z0-9_-]+$/.test(token)) return "has characters other than letters, digits, _ and -";
  if (token.length > longest) return `is longer than ${longest} characters`;
  const bits = Math.floor(token.length * Math.log2(alphabetOf(token)));
  if (bits < leastTokenBits) return `has at most ${bits} bits of randomness; it needs ${leastTokenBits}`;
  return new Set(token).size < fewestCharacters ? `has fewer than ${fewestCharacters} different characters` : undefined;
}

function alphabetOf(token: string): number {
  if (/^(?:[0-9a-f]+|[0-9A-F]+)$/.test(token)) return /[a-f]/i.test(token) ? 16 : 10;
  const hasBothCases = /[a-z]/.test(token) && /[A-Z]/.test(token);
  // Random text of this alphabet may lack its digits by chance.
  return hasBothCases ? 64 : 26 + (/\d/.test(token) ? 10 : 0);
}
