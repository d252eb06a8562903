import type { Source } from "../../sources/source.ts";
import { usageError } from "../command.ts";

/** The option for private sources. */
export const token = {
  type: "string",
  multiple: true,
  value: "[ORIGIN=]env:NAME",
  help: "Send the token in the environment variable NAME to the source, or to ORIGIN (https://HOST), and to no other. Repeatable.",
} as const;

const form = /^(?:(https?:\/\/[^=\s]+)=)?env:([A-Za-z_][A-Za-z0-9_]*)$/;

/** Tokens by origin; those without one are for that of the sources, which a person named: a project's lock may name anybody. Throws INVALID_OPTIONS, which never repeats what may be a token. */
export function tokensByOrigin(
  texts: readonly string[] = [],
  sources: readonly Pick<Source, "url">[],
  env: NodeJS.ProcessEnv = process.env,
): ReadonlyMap<string, string> {
  const origins = new Set(
    sources
      .map(({ url }) => new URL(url))
      .filter(isWeb)
      .map(({ origin }) => origin),
  );
  const tokens = new Map<string, string>();
  for (const text of texts) {
    const [, place, name] = form.exec(text) ?? [];
    if (name === undefined || (place !== undefined && !URL.canParse(place)))
      throw usageError(
        "--token needs env:NAME or https://HOST=env:NAME; a token itself in a command line can be read by others",
      );
    const value = env[name] ?? "";
    if (!/^[\x21-\x7E]+$/.test(value))
      throw usageError(`--token env:${name}: ${value === "" ? "there is no such variable" : "it is no token"}`);
    const [only] = origins;
    if (place === undefined && (only === undefined || origins.size > 1))
      throw usageError(
        `--token env:${name}: ${origins.size === 0 ? "you named no source over HTTP here" : "there are several sources"}; say whose it is: https://HOST=env:${name}`,
      );
    tokens.set(place === undefined ? (only ?? "") : new URL(place).origin, value);
  }
  return tokens;
}

function isWeb({ protocol }: URL): boolean {
  return protocol === "https:" || protocol === "http:";
}
