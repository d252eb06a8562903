import { digestForm } from "../../../base/text/content.ts";
import { SkillsError } from "../../../base/errors.ts";
import { type SkillDescriptor, skillDescriptor } from "../../../wire/skill-sharing.ts";
import { indexLimits, resolveDocumentLink, sayFault } from "./collect-skills.ts";
import { toFacts, versionFault } from "./skill-sharing.ts";
import type { RemoteContent, RemoteSkill } from "../../reader.ts";

/**
 * Reads a descriptor, parsed. `url` is the address that answered. Throws VERSION_INCOMPATIBLE, or SOURCE_INVALID;
 * messages name neither the address nor the skill.
 */
export function parseDescriptor(value: unknown, url: string): RemoteSkill {
  const { protocol } = (value ?? {}) as { readonly protocol?: { readonly version?: unknown } | null };
  const fault = versionFault(protocol?.version);
  if (fault !== undefined && typeof protocol?.version === "string")
    throw new SkillsError("VERSION_INCOMPATIBLE", `the descriptor is not used: ${fault}`);
  if (isTooDeep(value)) throw invalid(`it has more than ${indexLimits.descriptorDepth} levels`);
  const read = skillDescriptor.safeParse(value);
  if (!read.success) throw invalid(sayFault(read.error));
  const descriptor = read.data;
  const facts = toFacts(descriptor);
  if ("why" in facts) throw invalid(facts.why);
  const link = resolveDocumentLink(descriptor.endpoint.url, url);
  if ("why" in link) throw invalid(`endpoint.url: ${link.why}`);
  return { ...facts, content: toContent({ ...descriptor, endpoint: { ...descriptor.endpoint, url: link.url } }) };
}

/** Skills of type `api` are invoked; of the others the files are downloaded, if the endpoint says that it delivers them. */
function toContent(descriptor: SkillDescriptor): RemoteContent {
  const { capability_type: type, endpoint } = descriptor;
  if (type === "api") return { type: "api", descriptor };
  const { url, method, media_type: mediaType, digest } = endpoint;
  if (method !== "GET") return unusable(`its endpoint takes ${method}, and files are downloaded with GET`);
  if (digest !== undefined && !digestForm.test(digest))
    return unusable("its digest is not sha256: and 64 hexadecimal digits");
  const form = formOf(mediaType, new URL(url).pathname);
  if (form === undefined) return unusable(`its endpoint delivers neither SKILL.md nor an archive of a skill`);
  return { type: form, url, ...(digest !== undefined && { digest }) };
}

function unusable(why: string): RemoteContent {
  return { type: "unusable", why };
}

const archiveTypes = new Set(["application/gzip", "application/x-gzip", "application/x-tar", "application/zip"]);

function formOf(mediaType: string | undefined, pathname: string): "archive" | "skill-md" | undefined {
  const type = mediaType?.split(";")[0]?.trim().toLowerCase();
  if (type !== undefined && archiveTypes.has(type)) return "archive";
  if (type === "text/markdown") return "skill-md";
  if (type !== undefined && type !== "application/octet-stream" && type !== "text/plain") return undefined;
  if (/\.(?:tar\.gz|tgz|zip|tar)$/i.test(pathname)) return "archive";
  return /\.md$/i.test(pathname) ? "skill-md" : undefined;
}

/** Whether arrays and objects are nested more deeply than the limit, which would overflow the stack of whatever walks them. */
function isTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > indexLimits.descriptorDepth) return true;
    level = level.flatMap((item) =>
      typeof item === "object" && item !== null ? (Object.values(item) as readonly unknown[]) : [],
    );
  }
  return false;
}

function invalid(why: string): SkillsError {
  return new SkillsError("SOURCE_INVALID", `the descriptor is not used: ${why}`);
}
