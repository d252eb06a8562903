import { toTokenDigest } from "../../wire/http/token.ts";
import type { JsonPath } from "../../base/json/node-at.ts";
import type { WrittenConfig } from "./config-schema.ts";
import { tokenFault } from "./token-strength.ts";

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
