import type { Steps } from "../../../base/promises.ts";
import {
  type SkillDescriptor,
  type SkillIndexEntry,
  sharingVersion,
  skillDescriptor,
  skillIndexEntry,
} from "../../../wire/skill-sharing.ts";
import {
  type Listed,
  type SkippedEntry,
  collectSkills,
  indexLimits,
  resolveDocumentLink,
  sayFault,
} from "./collect-skills.ts";
import type { RemoteContent, RemoteSkill } from "../../reader.ts";
import { cleanText } from "../../../base/text/unsafe-characters.ts";
import { digestForm } from "../../../base/text/content.ts";
import { SkillsError } from "../../../base/errors.ts";
import { isSlug } from "../../../skills/skill.ts";

/** A page of an index of Skill Sharing or of a registry; a registry may answer the bare array. */
export interface SharingPage extends Listed {
  /** The URL of the next page. */
  readonly next?: string;
}

/** The fields that are read before a document is validated. */
interface SharingDocument {
  readonly protocol?: { readonly version?: unknown } | null;
  readonly skills?: unknown;
  readonly next_cursor?: unknown;
}

/** Reads `{protocol, skills, next_cursor?}`, or the bare array of skills. `url` is the URL that answered. */
export function* parseSharingPage(page: unknown, url: string): Steps<SharingPage> {
  const { protocol, skills, next_cursor: cursor } = (Array.isArray(page) ? { skills: page } : page) as SharingDocument;
  const version = protocol?.version;
  const fault = Array.isArray(page) ? undefined : versionFault(version);
  if (fault !== undefined) return { skills: [], problems: [fault] };
  if (!Array.isArray(skills)) return { skills: [], problems: ["skills is not an array"] };
  const listed = yield* collectSkills(skills, (entry) => toSkill(entry, url));
  return typeof cursor === "string" && cursor !== "" ? { ...listed, next: nextPage(url, cursor) } : listed;
}

/** Describes the fault of a protocol version; undefined for every version with the same MAJOR, which readers accept. */
function versionFault(version: unknown): string | undefined {
  const [own] = sharingVersion.split(".");
  if (typeof version === "string" && new RegExp(`^${own}(?:\\.|$)`).test(version)) return undefined;
  const shown = typeof version === "string" ? cleanText(version, indexLimits.versionLength) : "no version";
  return `it says ${shown} of Skill Sharing; this program reads version ${sharingVersion} and other ${own}.x versions`;
}

function nextPage(url: string, cursor: string): string {
  const next = new URL(url);
  next.searchParams.set("cursor", cursor);
  return next.href;
}

function toSkill(entry: unknown, base: string): RemoteSkill | SkippedEntry {
  const read = skillIndexEntry.safeParse(entry);
  if (!read.success) return { why: sayFault(read.error) };
  const { id } = read.data;
  const link = resolveDocumentLink(read.data.descriptor_url, base);
  if ("why" in link) return { why: `descriptor_url: ${link.why}` };
  const facts = toFacts(read.data);
  if ("why" in facts) return facts;
  if (id.length > indexLimits.idLength) return { why: `id: more than ${indexLimits.idLength} characters` };
  return { ...facts, content: { type: "descriptor", url: link.url } };
}

/** Converts the fields that an index entry and a descriptor have in common. */
function toFacts(entry: Omit<SkillIndexEntry, "descriptor_url">): Omit<RemoteSkill, "content"> | SkippedEntry {
  const { id, description, version, capability_type: capabilityType, access } = entry;
  const slug = toSharedSlug(entry);
  if (slug === undefined) return { why: "neither its id nor its name has a letter or digit" };
  return {
    name: slug,
    description: cleanText(description, indexLimits.descriptionLength),
    version: cleanText(version, indexLimits.versionLength),
    id: cleanText(id, indexLimits.idLength),
    capabilityType,
    access,
  };
}

/** Returns the name of a skill: the slug in an id such as `com.example.rows-clean-v1`; else the skill's name as a slug. */
export function toSharedSlug({ id, name }: { readonly id: string; readonly name: string }): string | undefined {
  const [, ofId] = /^(?:[a-z0-9_-]+\.)+([a-z0-9-]{1,64}?)(?:-v\d+)?$/i.exec(id.slice(0, indexLimits.idLength)) ?? [];
  const made = name
    .slice(0, indexLimits.nameLength * 4)
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, indexLimits.nameLength)
    .replace(/^-|-$/g, "");
  return [ofId?.toLowerCase() ?? "", made].find(isSlug);
}

/**
 * Reads a parsed descriptor. `url` is the URL that answered. Throws VERSION_INCOMPATIBLE or SOURCE_INVALID; messages name neither the URL
 * nor the skill.
 */
export function parseDescriptor(value: unknown, url: string): RemoteSkill {
  const { protocol } = (value ?? {}) as SharingDocument;
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

/** Determines the content: skills of type `api` are invoked, others are downloaded if the endpoint declares that it delivers files. */
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

/** Whether arrays and objects are nested more deeply than the limit, which would overflow the stack of code that walks them. */
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
