import type { Steps } from "../../../base/promises.ts";
import { type SkillIndexEntry, sharingVersion, skillIndexEntry } from "../../../wire/skill-sharing.ts";
import {
  type Listed,
  type SkippedEntry,
  collectSkills,
  indexLimits,
  isAgentSkillsName,
  resolveDocumentLink,
  sayFault,
} from "./collect-skills.ts";
import type { RemoteSkill } from "../../reader.ts";
import { cleanText } from "../../../base/text/unsafe-characters.ts";

/** A page of an index of Skill Sharing or of a registry; a registry may answer the bare array. */
export interface SharingPage extends Listed {
  /** Where the next page is. */
  readonly next?: string;
}

/** Reads `{protocol, skills, next_cursor?}`, or its array alone. `url` is the address that answered. */
export function* parseSharingPage(page: unknown, url: string): Steps<SharingPage> {
  const {
    protocol,
    skills,
    next_cursor: cursor,
  } = (Array.isArray(page) ? { skills: page } : page) as {
    readonly protocol?: { readonly version?: unknown } | null;
    readonly skills?: unknown;
    readonly next_cursor?: unknown;
  };
  const version = protocol?.version;
  const fault = Array.isArray(page) ? undefined : versionFault(version);
  if (fault !== undefined) return { skills: [], problems: [fault] };
  if (!Array.isArray(skills)) return { skills: [], problems: ["skills is not an array"] };
  const listed = yield* collectSkills(skills, (entry) => toSkill(entry, url));
  return typeof cursor === "string" && cursor !== "" ? { ...listed, next: nextPage(url, cursor) } : listed;
}

/** What is wrong with a protocol version: readers accept every version with the same MAJOR. */
export function versionFault(version: unknown): string | undefined {
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

/** What an entry of an index and a descriptor say alike. */
export function toFacts({
  id,
  name,
  description,
  version,
  capability_type: capabilityType,
  access,
}: Omit<SkillIndexEntry, "descriptor_url">): Omit<RemoteSkill, "content"> | SkippedEntry {
  const slug = toSharedSlug({ id, name });
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

/** The name of a skill: the slug in an id such as `com.example.rows-clean-v1`; else its name, made one. */
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
  return [ofId?.toLowerCase() ?? "", made].find(isAgentSkillsName);
}
