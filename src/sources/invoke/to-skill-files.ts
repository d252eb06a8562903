import { stringify } from "smol-toml";
import type { SkillDescriptor } from "../../wire/skill-sharing.ts";
import { credentialHeader } from "../../skills/permissions.ts";
import { isSlug } from "../../skills/skill.ts";
import type { RemoteSkill, SkillFile } from "../reader.ts";
import { attempt } from "../../base/failures/system-error.ts";
import { cleanText } from "../../base/text/unsafe-characters.ts";

/** The reason why a skill of type `api` cannot be used: the end of a sentence. */
interface Unusable {
  readonly why: string;
}

const argumentTypes = new Set(["string", "integer", "number", "boolean", "object", "array"]);
const maxDescription = 1_024;
const maxTags = 20;
/** The maximum size of a `skill.toml` that its reader accepts, in bytes. */
const maxManifestBytes = 32 * 1024 - 1;

/**
 * Converts a skill that is invoked on another machine to the files of an ordinary skill: SKILL.md and skill.toml. Its `[remote]` names the
 * endpoint, so that approving the digest approves exactly this endpoint and secret. `slug` is the local name of the skill. Pure.
 */
export function toSkillFiles(descriptor: SkillDescriptor, slug: string): readonly SkillFile[] | Unusable {
  if (!isSlug(slug)) return { why: `${JSON.stringify(slug)} is no slug` };
  const { endpoint, version, inputs, output } = descriptor;
  if (endpoint.method !== "POST")
    return { why: `its endpoint takes ${endpoint.method}, and skills are invoked with POST` };
  const url = toEndpoint(endpoint.url);
  if (url === undefined) return { why: "its endpoint is not an https URL, or http to an IP address" };
  const credentials = toCredentials(descriptor.auth, url);
  if ("why" in credentials) return credentials;
  const [taken, given] = [toArguments(inputs), toArguments(output)];
  const manifest = {
    name: slug.replaceAll("-", "."),
    version: toVersion(version),
    description: cleanText(descriptor.description, maxDescription) || slug,
    kind: "action",
    ...toTags(descriptor.tags),
    remote: { endpoint: url.href, ...credentials },
    ...(taken && { inputs: taken }),
    ...(given && { outputs: given }),
  };
  // The manifest may have a value that TOML does not have.
  const toml = attempt(() => stringify(manifest), undefined);
  if (toml === undefined || Buffer.byteLength(toml) > maxManifestBytes)
    return { why: "its inputs cannot be written as skill.toml, or are longer than 32 KiB" };
  const file = (path: string, text: string): SkillFile => ({ path, bytes: Buffer.from(text), executable: false });
  return [file("SKILL.md", toText(descriptor, slug, url)), file("skill.toml", toml)];
}

/** Parses an endpoint; undefined with user information or a fragment, and unless it is https, or http to an IP address. */
function toEndpoint(text: string): URL | undefined {
  if (text.length > 2_048 || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isAddress = /^(?:\d+(?:\.\d+){3}|\[.*\])$/.test(url.hostname);
  const isFragment = url.hash !== "";
  // An empty fragment is missing in `hash`, but written in `href`.
  url.hash = "";
  const isPlain = !isFragment && url.username === "" && url.password === "";
  return isPlain && (url.protocol === "https:" || (url.protocol === "http:" && isAddress)) ? url : undefined;
}

interface Credentials {
  readonly secret?: string;
  readonly header?: string;
  readonly scheme?: string;
}

/** Determines the secret that is sent, and its header and scheme. */
function toCredentials(auth: SkillDescriptor["auth"], url: URL): Credentials | Unusable {
  const { type, in: position = "header", name = "authorization", scheme } = auth;
  if (type === "none") return {};
  if (type === "custom") return { why: "it is authenticated in a way of its own (custom)" };
  if (position !== "header" || typeof name !== "string" || !credentialHeader.test(name.toLowerCase()))
    return { why: "its credentials are not sent in a header" };
  if (scheme !== undefined && (typeof scheme !== "string" || !/^[A-Za-z0-9-]{1,32}$/.test(scheme)))
    return { why: "the scheme of its credentials is invalid" };
  const secret = secretNameOf(url);
  if (secret === undefined) return { why: "its host is too long, or has characters that no secret is named after" };
  const header = name.toLowerCase();
  return {
    secret,
    ...(header !== "authorization" && { header }),
    ...(scheme !== undefined && !(header === "authorization" && scheme === "Bearer") && { scheme }),
  };
}

/**
 * Names the secret for a host: `COM_EXAMPLE_API_KEY` for `example.com`. No two hosts share a name, so no descriptor gets the secret of
 * another host. A dot becomes one underscore, a hyphen two, and three precede a port. Undefined for a host that cannot be named so.
 */
export function secretNameOf({ hostname, port }: Pick<URL, "hostname" | "port">): string | undefined {
  const isAddress = /^[\d.]+$|^\[/.test(hostname);
  const labels = isAddress ? ["host", ...hostname.replace(/[[\]]/g, "").split(/[.:]/)] : hostname.split(".").reverse();
  if (!isAddress && !labels.every((label) => /^[a-z0-9]+(?:-+[a-z0-9]+)*$/.test(label))) return undefined;
  const host = labels.join("_").replaceAll("-", "__");
  // A name starts neither with a digit nor with the prefix of IP addresses.
  const start = !isAddress && /^(?:\d|host(?:_|$))/.test(host) ? "_" : "";
  const name = `${start}${host}${port === "" ? "" : `___${port}`}_api_key`.toUpperCase();
  return name.length > maxSecretName ? undefined : name;
}

const maxSecretName = 128;

function toVersion(version: string): string {
  if (
    /^(?:0|[1-9]\d{0,9})(?:\.(?:0|[1-9]\d{0,9})){2}(?:-[0-9A-Za-z]+(?:\.[0-9A-Za-z]+)*)?$/.test(version) &&
    !/-(?:.*\.)?0\d/.test(version)
  )
    return version;
  const [, major = "0", minor = "0", patch = "0"] = /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?/.exec(version) ?? [];
  return [major, minor, patch].map(Number).join(".");
}

function toTags(tags: readonly string[] | undefined): { readonly tags?: readonly string[] } {
  const clean = (tags ?? [])
    .slice(0, maxTags)
    .map((tag) => cleanText(tag, 64))
    .filter((tag) => tag !== "");
  return clean.length === 0 ? {} : { tags: clean };
}

type Arguments = SkillDescriptor["inputs"];

/**
 * Converts arguments to those of a manifest. Undefined if none is declared, or one has a type that a manifest lacks: then only the other
 * machine checks them.
 */
function toArguments(declared: Arguments): Record<string, object> | undefined {
  const entries: [string, object][] = [];
  for (const [name, { type, description, required, default: preset, enum: choices }] of Object.entries(declared)) {
    // A blob of the other machine is named by its id.
    const known = type === "blob" ? "string" : type;
    if (!argumentTypes.has(known)) return undefined;
    const isListed = choices !== undefined && choices.length > 0 && !holdsNull(choices);
    entries.push([
      name,
      {
        type: known,
        ...(description !== undefined && { description: cleanText(description, maxDescription) }),
        ...(required !== undefined && { required }),
        ...(preset !== undefined && !holdsNull(preset) && { default: preset }),
        ...(isListed && { enum: choices }),
      },
    ]);
  }
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Whether a value contains null, which TOML does not have. */
function holdsNull(value: unknown): boolean {
  return JSON.stringify(value, (_key, inner: unknown) => (inner === null ? "\0null" : inner)).includes("\\u0000null");
}

/** Writes the SKILL.md that a model reads. JSON strings are valid YAML. */
function toText(
  { name, description, provider, documentation_url: documentation }: SkillDescriptor,
  slug: string,
  url: URL,
): string {
  const title = cleanText(name, 128) || slug;
  const more = documentation === undefined ? [] : ["", `Documentation: ${cleanText(documentation, 512)}`];
  return [
    "---",
    `name: ${JSON.stringify(title)}`,
    `description: ${JSON.stringify(cleanText(description, maxDescription) || slug)}`,
    "---",
    `# ${title}`,
    "",
    cleanText(description, 8 * maxDescription),
    "",
    `This skill runs at ${url.host} (${cleanText(provider.name, 128)}), not on this machine: its arguments are sent there. Call it with execute_skill.`,
    ...more,
    "",
  ].join("\n");
}

/** The possible use of a remote skill. */
type UseOfSkill =
  | { readonly use: "install" | "invoke" }
  /** `why` is a clause for the user. */
  | { readonly use: "cannot" | "unknown"; readonly why: string };

/** Determines the possible use of a skill, as far as its index and descriptor show it. */
export function useOfSkill({ name, content }: RemoteSkill): UseOfSkill {
  if (content.type === "descriptor") return { use: "unknown", why: "its descriptor was not read" };
  if (content.type === "unusable") return { use: "cannot", why: content.why };
  if (content.type !== "api") return { use: "install" };
  const files = toSkillFiles(content.descriptor, name);
  return "why" in files ? { use: "cannot", why: files.why } : { use: "invoke" };
}
