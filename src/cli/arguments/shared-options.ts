import { type OptionTable, usageError, texts, flag, text } from "../command.ts";
import type { SourceUrl } from "../../sources/source.ts";

/** Options for the directories of skills. */
export const roots = {
  skills: texts("DIR", "Also look for skills in DIR, before the default roots. Repeatable."),
  source: texts(
    "SOURCE",
    "Also offer, after all local ones, skills of SOURCE: a domain or URL, OWNER/REPO of GitHub, any git URL. Repeatable.",
  ),
  "allow-private": texts("HOST", "A --source may be on HOST although its address is private. Repeatable."),
  "no-default-roots": flag("Look in the --skills directories and --source only."),
} as const satisfies OptionTable;

export const cwd = text("DIR", "The project's directory. Default: the current directory.");

export const allowPrivate = texts("HOST", "Also connect to HOST[:PORT] if its address is private. Repeatable.");

export const json = flag("Print JSON.");

export const listing = { ...roots, cwd, json } as const satisfies OptionTable;

export const trustedRoot = text(
  "FILE",
  "Verify signatures with FILE, the trusted_root.json of a Sigstore of your own.",
);

export const dataNote =
  "Blobs, the ledger, run records and packages are stored in $ACP_SKILLS_HOME. Default: ~/.local/share/acp-skills, or the platform's equivalent.";

/** Notes at the end of `--help`, by the option to which they belong. */
export const optionNotes: Readonly<Record<string, string | undefined>> = {
  "no-default-roots": "Default roots: .agents/skills and .claude/skills in the project, then in your home directory.",
  "secrets-file": "Secrets are read from the environment, then --secrets-file, then the system's keychain.",
  isolation: `Code is sandboxed: no network, secrets or project, unless --grant gives them to its skill.\n${dataNote}`,
};

/** The option for private sources. */
export const token = texts(
  "[ORIGIN=]env:NAME",
  "Send the token in the environment variable NAME to the source, or to ORIGIN (https://HOST), and to no other. Repeatable.",
);

const form = /^(?:(https?:\/\/[^=\s]+)=)?env:([A-Za-z_][A-Za-z0-9_]*)$/;

/**
 * Returns tokens by origin. A token without an origin is for the origin of `sources`, which the user named: a project's lock may name any
 * server. Throws INVALID_OPTIONS, which never repeats a possible token.
 */
export function tokensByOrigin(
  texts: readonly string[],
  sources: readonly SourceUrl[],
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
    const [, origin, name] = form.exec(text) ?? [];
    if (name === undefined || (origin !== undefined && !URL.canParse(origin)))
      throw usageError("--token needs env:NAME or https://HOST=env:NAME; others can read a token in a command line");
    const value = env[name] ?? "";
    if (!/^[\x21-\x7E]+$/.test(value))
      throw usageError(`--token env:${name}: ${value === "" ? "there is no such variable" : "it is no token"}`);
    const [only] = origins;
    if (origin === undefined && (only === undefined || origins.size > 1))
      throw usageError(
        `--token env:${name}: ${origins.size === 0 ? "you named no source over HTTP here" : "there are several sources"}; say whose it is: https://HOST=env:${name}`,
      );
    tokens.set(origin === undefined ? (only ?? "") : new URL(origin).origin, value);
  }
  return tokens;
}

function isWeb({ protocol }: URL): boolean {
  return protocol === "https:" || protocol === "http:";
}
