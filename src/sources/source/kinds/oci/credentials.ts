import { homedir } from "node:os";
import path from "node:path";
import { existsSync } from "node:fs";
import { SkillsError } from "../../../../base/errors.ts";
import { isObject, parseIfJson } from "../../../../base/json/json-value.ts";
import { readGuardedFile } from "../../../../base/paths/read-guarded-file.ts";
import { askHelper } from "./credential-helper.ts";
import { type OciRepository, credentialNames } from "./reference.ts";

/** The credentials that the user stored for a registry. */
export type RegistryCredentials =
  | { readonly type: "password"; readonly user: string; readonly secret: string }
  /** A token that the token server exchanges for other tokens. */
  | { readonly type: "identity"; readonly token: string };

/** Finds the stored credentials for a repository; undefined if there are none. Throws AUTH_REQUIRED if they cannot be read. */
export type FindCredentials = (
  repository: OciRepository,
  signal: AbortSignal,
) => Promise<RegistryCredentials | undefined>;

interface Environment {
  readonly env?: NodeJS.ProcessEnv;
  readonly home?: string;
}

const maxBytes = 1024 * 1024;

/** Finds the credentials that `docker login` and `podman login` stored, also with the configured helpers; each repository is read once. */
export function storedCredentials({ env = process.env, home = homedir() }: Environment = {}): FindCredentials {
  const found = new Map<string, Promise<RegistryCredentials | undefined>>();
  return (repository, signal) => {
    const key = `${repository.registry}/${repository.repository}`;
    const known = found.get(key) ?? findIn(filesOf(env, home), repository, signal);
    found.set(key, known);
    // The next request may succeed.
    known.catch(() => found.delete(key));
    return known;
  };
}

function filesOf(env: NodeJS.ProcessEnv, home: string): readonly string[] {
  const auth = path.join("containers", "auth.json");
  const runtime = env["XDG_RUNTIME_DIR"];
  return [
    ...[env["REGISTRY_AUTH_FILE"] ?? ""].filter((file) => file !== ""),
    path.join(env["DOCKER_CONFIG"] ?? path.join(home, ".docker"), "config.json"),
    ...(runtime === undefined || runtime === "" ? [] : [path.join(runtime, auth)]),
    path.join(env["XDG_CONFIG_HOME"] ?? path.join(home, ".config"), auth),
  ];
}

async function findIn(
  files: readonly string[],
  repository: OciRepository,
  signal: AbortSignal,
): Promise<RegistryCredentials | undefined> {
  for (const file of files) {
    if (!existsSync(file)) continue;
    const read = readGuardedFile(file, { maxBytes, of: "user" });
    if ("fault" in read) throw unusable(file, `${read.fault}. ${read.fix}`);
    const config = parseIfJson(read.text);
    if (!isObject(config)) throw unusable(file, "it is not a JSON object. Log in again");
    const credentials = await findInConfig(config, file, repository, signal);
    if (credentials !== undefined) return credentials;
  }
  return undefined;
}

async function findInConfig(
  { auths, credHelpers, credsStore }: Readonly<Record<string, unknown>>,
  file: string,
  { registry, repository }: OciRepository,
  signal: AbortSignal,
): Promise<RegistryCredentials | undefined> {
  const names = credentialNames(registry);
  const helper = valueFor(credHelpers, names) ?? credsStore;
  if (typeof helper === "string" && helper !== "") {
    const credentials = await askHelper(helper, names[0] ?? registry, signal);
    if (credentials !== undefined) return credentials;
  }
  // Podman also stores credentials for a prefix of a repository: the longest prefix counts.
  const parts = repository.split("/").map((_, index, all) => [registry, ...all.slice(0, all.length - index)].join("/"));
  const entry = valueFor(auths, [...parts, ...names]);
  return isObject(entry) ? toCredentials(entry, file) : undefined;
}

/** Returns the value of the first name that a table has, in any spelling. */
function valueFor(table: unknown, names: readonly string[]): unknown {
  if (!isObject(table)) return undefined;
  const bare = (text: string): string => text.toLowerCase().replace(/^https?:\/\//, "").replace(/\/(?:v[12]\/?)?$/, ""); // prettier-ignore
  const entries = new Map(Object.entries(table).map(([key, value]) => [bare(key), value]));
  return names.map((name) => entries.get(bare(name))).find((value) => value !== undefined);
}

function toCredentials(entry: Readonly<Record<string, unknown>>, file: string): RegistryCredentials | undefined {
  const { auth, username, password, identitytoken } = entry;
  if (typeof identitytoken === "string" && identitytoken !== "") return { type: "identity", token: identitytoken };
  if (typeof auth === "string" && auth !== "") {
    const text = Buffer.from(auth, "base64").toString("utf8").replace(/\0+$/, "");
    const colon = text.indexOf(":");
    if (colon < 1) throw unusable(file, "its auth of this registry is not the base64 of USER:PASSWORD. Log in again");
    return { type: "password", user: text.slice(0, colon), secret: text.slice(colon + 1) };
  }
  if (typeof username === "string" && typeof password === "string" && username !== "")
    return { type: "password", user: username, secret: password };
  return undefined;
}

function unusable(file: string, why: string): SkillsError {
  return new SkillsError("AUTH_REQUIRED", `The credentials in ${file} cannot be used: ${why.replace(/\.$/, "")}.`);
}
