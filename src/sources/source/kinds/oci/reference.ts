import { invalidSource, isLoopbackHost } from "../../source-label.ts";

/** The names in `oci://HOST/REPO[:TAG][@DIGEST]`. If there are both a tag and a digest, the digest decides. */
export interface OciReference {
  /** A host in lower case, with its port if it has one. */
  readonly registry: string;
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** A repository of a registry, without a tag or digest. */
export type OciRepository = Pick<OciReference, "registry" | "repository">;

const example = "oci://ghcr.io/OWNER/SKILL:1.0.0";
const component = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/;
const maxRepositoryLength = 255;
const tagForm = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
/** The digests that can be verified here. */
export const contentDigest = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;
/** The names of one registry; the first is the one in references, the last the one that answers. */
const dockerHub = ["docker.io", "index.docker.io", "registry-1.docker.io"] as const;

/** Parses a reference. Throws INVALID_OPTIONS. */
export function parseReference(text: string): OciReference {
  const [, rest] = /^oci:\/\/(.*)$/is.exec(text) ?? [];
  if (rest === undefined) throw invalidSource("oci: is followed by // and the host of a registry", example);
  if (/[\s?#%\\]/.test(rest)) throw invalidSource("a repository has no blank, query, fragment or encoding", example);
  const slash = rest.indexOf("/");
  const host = slash === -1 ? rest : rest.slice(0, slash);
  if (host.includes("@"))
    throw invalidSource("user information in it would end up in files and logs; docker login stores it", example);
  const [name = "", digest, ...others] = rest.slice(host.length + 1).split("@");
  const colon = name.indexOf(":");
  const tag = colon === -1 ? undefined : name.slice(colon + 1);
  if (digest !== undefined && (others.length > 0 || !contentDigest.test(digest)))
    throw invalidSource("what follows @ is not a digest, sha256: or sha512: and hexadecimal digits", example);
  if (tag !== undefined && !tagForm.test(tag)) throw invalidSource("what follows : is not a tag", example);
  const location = toLocation(toRegistry(host), colon === -1 ? name : name.slice(0, colon));
  return { ...location, ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) };
}

function toRegistry(host: string): string {
  const whole = `https://${host.toLowerCase()}`;
  const registry = URL.canParse(whole) ? new URL(whole).host : "";
  // A host that URL rewrites, such as 0x7f.1, is no host of a registry.
  const isHost = registry !== "" && registry === host.toLowerCase().replace(/:443$/, "");
  if (!isHost) throw invalidSource("it names no valid host", example);
  if (!/[.:]/.test(registry) && !isLoopbackHost(registry))
    throw invalidSource("its host has neither a dot nor a port; write docker.io for Docker Hub", example);
  return registry;
}

function toLocation(registry: string, name: string): OciRepository {
  if (name === "") throw invalidSource("the repository is missing", example);
  const isValid = name.length <= maxRepositoryLength && name.split("/").every((part) => component.test(part));
  if (!isValid)
    throw invalidSource(
      "the name of a repository has lower-case letters, digits, single separators (. _ -) and slashes",
      example,
    );
  if (!dockerHub.some((one) => one === registry)) return { registry, repository: name };
  return { registry: dockerHub[0], repository: name.includes("/") ? name : `library/${name}` };
}

/** Formats a reference as text. */
export function toReferenceLabel({ registry, repository, tag, digest }: OciReference): string {
  return `oci://${registry}/${repository}${tag === undefined ? "" : `:${tag}`}${digest === undefined ? "" : `@${digest}`}`;
}

/** Returns the URL to which the rules for hosts and sources apply. */
export function toReferenceUrl({ registry, repository }: OciReference): string {
  return `${protocolOf(registry)}//${registry}/${repository}`;
}

/** Returns the origin that answers for a registry. */
export function originOfRegistry(registry: string): string {
  return `${protocolOf(registry)}//${registry === dockerHub[0] ? dockerHub[2] : registry}`;
}

function protocolOf(registry: string): "http:" | "https:" {
  return isLoopbackHost(new URL(`https://${registry}`).hostname) ? "http:" : "https:";
}

/** Returns the names under which programs store the credentials of a registry. */
export function credentialNames(registry: string): readonly string[] {
  return registry === dockerHub[0] ? ["https://index.docker.io/v1/", ...dockerHub] : [registry];
}
