import { type SkillDescriptor, type SkillIndexEntry, sharingVersion } from "../../../wire/skill-sharing.ts";
import type { ServeConfig } from "../../config.ts";
import type { Artifact } from "../artifacts.ts";
import type { PublishedSkill } from "../publication.ts";

/** The publisher and its URL. */
export interface Publisher {
  readonly provider: Pick<ServeConfig["provider"], "name" | "url">;
  /** The URL of the server, without a slash at its end. */
  readonly baseUrl: string;
}

export const sharingProtocol = { version: sharingVersion };

export function providerOf({ provider: { name, url } }: Pick<Publisher, "provider">): SkillDescriptor["provider"] {
  return { name, ...(url !== undefined && { url }) };
}

/** Creates the entry of a skill in an index. */
export function toIndexEntry({ id, skill, type, access }: PublishedSkill, { baseUrl }: Publisher): SkillIndexEntry {
  const { name, slug, description, version } = skill;
  const descriptorUrl = `${baseUrl}/skills/${slug}/descriptor.json`;
  return { id, name, capability_type: type, description, descriptor_url: descriptorUrl, access, version };
}

/** Whether a skill is used by invoking it on this server. A skill without an entrypoint is downloaded, whatever its type. */
export function isInvoked({ type, skill }: Pick<PublishedSkill, "type" | "skill">): boolean {
  return type === "api" && skill.kind === "action";
}

/** Creates the descriptor of a skill. Skills that are not invoked need `download`. */
export function toDescriptor(
  published: PublishedSkill,
  publisher: Publisher,
  download: Pick<Artifact, "path" | "digest" | "mediaType"> | undefined,
): SkillDescriptor {
  const { id, skill, type, access } = published;
  const { name, slug, description, version, tags, manifest } = skill;
  const { baseUrl } = publisher;
  const endpoint: SkillDescriptor["endpoint"] =
    download === undefined
      ? { url: `${baseUrl}/skills/${slug}/executions`, method: "POST" }
      : { url: baseUrl + download.path, method: "GET", media_type: download.mediaType, digest: download.digest };
  return {
    protocol: sharingProtocol,
    id,
    name,
    version,
    capability_type: type,
    description,
    provider: providerOf(publisher),
    endpoint,
    inputs: toArguments(manifest?.inputs),
    output: toArguments(manifest?.outputs),
    auth:
      access === "public"
        ? { type: "none" }
        : { type: "api_key", in: "header", name: "Authorization", scheme: "Bearer" },
    access,
    ...(tags.length > 0 && { tags }),
  };
}

type Arguments = NonNullable<PublishedSkill["skill"]["manifest"]>["inputs"];

/** Copies declared parameters as JSON, without undefined values. */
function toArguments(declared: Arguments): SkillDescriptor["inputs"] {
  return JSON.parse(JSON.stringify(declared ?? {})) as SkillDescriptor["inputs"];
}
