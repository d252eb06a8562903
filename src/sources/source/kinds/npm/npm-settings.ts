import { homedir } from "node:os";
import path from "node:path";
import { type SkillsError, invalidOptions } from "../../../../base/errors.ts";
import { readGuardedFile } from "../../../../base/paths/read-guarded-file.ts";
import { isLoopbackHost } from "../../source-label.ts";

/** The user's registries and their credentials. */
export interface NpmSettings {
  /** Returns the URL of the registry for a package; it ends with a slash. Throws INVALID_OPTIONS. */
  registryOf(name: string): string;
  /** Returns the user's `Authorization` for this URL. Throws INVALID_OPTIONS for a value that no header can have. */
  authorizationFor(url: string): string | undefined;
  /** The environment variables that a token names and that are not set. */
  readonly missing: readonly string[];
}

const publicRegistry = "https://registry.npmjs.org/";
const maxSettingsBytes = 64 * 1024;
/** The prefix of settings in the environment, in any case. */
const prefix = /^npm_config_/i;

/**
 * Reads the user's npm settings: `~/.npmrc` or the file that `NPM_CONFIG_USERCONFIG` names, and variables `npm_config_…`. The `.npmrc` of
 * a project is never read: it must not decide where the user's token goes. Throws INVALID_OPTIONS if others may have written the file.
 */
export function readNpmSettings(env: NodeJS.ProcessEnv = process.env, home = homedir()): NpmSettings {
  const given = new Map(
    Object.entries(env).flatMap(([name, value]) =>
      prefix.test(name) && value !== undefined ? [[toKey(name.replace(prefix, "")), value] as const] : [],
    ),
  );
  const file = given.get("userconfig") ?? path.join(home, ".npmrc");
  const read = readGuardedFile(file, { maxBytes: maxSettingsBytes, of: "user" });
  if ("fault" in read && read.fault !== absent) throw invalidOptions(`${file} is not used: ${read.fault}. ${read.fix}`);
  const values = new Map([...("text" in read ? parseNpmrc(read.text) : []), ...given]);
  const missing: string[] = [];
  const valueOf = (key: string): { readonly value: string } | { readonly unset: string } | undefined => {
    const value = values.get(key);
    if (value === undefined || value === "") return undefined;
    const unset = /\$\{([^${}?]+)\}/g;
    for (const [, name = ""] of value.matchAll(unset)) if (env[name] === undefined) return { unset: name };
    return { value: value.replace(/\$\{([^${}?]+)\??\}/g, (_all, name: string) => env[name] ?? "").trim() };
  };
  return {
    missing,
    registryOf(name) {
      const scope = name.startsWith("@") ? name.slice(0, name.indexOf("/")) : undefined;
      const found = (scope === undefined ? undefined : valueOf(`${scope}:registry`)) ?? valueOf("registry");
      if (found === undefined) return publicRegistry;
      if ("unset" in found)
        throw invalidOptions(`the registry that ${file} names needs \${${found.unset}}, which is not set`);
      return toRegistry(found.value, file);
    },
    authorizationFor(url) {
      for (const location of locationsOf(new URL(url)))
        for (const [key, scheme] of Object.entries({ _authToken: "Bearer", _auth: "Basic" })) {
          const found = valueOf(`${location}:${key}`);
          if (found === undefined) continue;
          if ("unset" in found) {
            missing.push(found.unset);
            continue;
          }
          if (/^[\x21-\x7E]+$/.test(found.value)) return `${scheme} ${found.value}`;
          throw invalidOptions(`${location}:${key} in ${file} is no token; log in again with npm login`);
        }
      return undefined;
    },
  };
}

const absent = "there is no such file";

/** Converts a variable to a key of .npmrc: settings have hyphens; hosts and scopes stay as they are. */
function toKey(name: string): string {
  return /^(?:\/\/|@)/.test(name) ? name : name.toLowerCase().replace(/(?!^)_/g, "-");
}

/** Parses `KEY = VALUE` lines with comments and quotes. Sections and lists are ignored. */
function* parseNpmrc(text: string): Generator<readonly [string, string]> {
  for (const line of text.replace(/^\ufeff/, "").split(/\r?\n/)) {
    if (/^\s*\[/.test(line)) return;
    const [, key = "", rest = ""] = /^\s*([^;#=\s][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    const [, , quoted] = /^(["'])(.*)\1$/.exec(rest) ?? [];
    if (key !== "") yield [key, quoted ?? rest.replace(/\s+[;#].*$/, "")];
  }
}

function toRegistry(text: string, file: string): string {
  const refuse = (why: string): SkillsError =>
    invalidOptions(`the registry that ${file} or npm_config_registry names ${why}`);
  if (!URL.canParse(text)) throw refuse("is not a URL");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "")
    throw refuse("has a user name or a password; write these as //HOST/:_authToken");
  if (url.search !== "" || url.hash !== "") throw refuse("has a query");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopbackHost(url.hostname)))
    throw refuse("is not read over https");
  return url.href.replace(/\/*$/, "/");
}

/** Yields the keys of npm for a URL and all directories above it, each with and without a slash at its end. */
function* locationsOf({ host, pathname }: URL): Generator<string, void> {
  for (let at = pathname.replace(/[^/]*$/, ""); ; at = at.replace(/[^/]+\/$/, "")) {
    yield `//${host}${at}`;
    if (at !== "/") yield `//${host}${at.slice(0, -1)}`;
    else break;
  }
  yield `//${host}`;
}
