import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import parseVersion from "semver/functions/parse.js";
import { SkillsError } from "../../../../base/errors.ts";
import { toTarGz } from "../../../archive.ts";
import { nameOf } from "../../../reader/trees.ts";
import type { PublishOptions, PublishReceipt, PublishableSkill } from "../../source-kind.ts";
import { storedCredentials } from "./credentials.ts";
import { ociDigest, ociMediaTypes } from "./manifest.ts";
import { type PushedContent, pushBlob, pushManifest, toPushedContent } from "./push.ts";
import { type OciReference, parseReference, toReferenceLabel, toReferenceUrl } from "./reference.ts";
import { pushSignature } from "./referrers.ts";
import { OciRegistry } from "./registry.ts";

const artifactType = "dev.toolhive.skills.v1";
/** The architectures that get the same bytes, so that clusters with either can mount them. */
const architectures = ["amd64", "arm64"] as const;
const epoch = "1970-01-01T00:00:00Z";

/** Pushes each skill as an artifact: a single one to the repository itself, several to repositories of their names below it. */
export async function publishSkills(
  reference: OciReference,
  skills: readonly PublishableSkill[],
  options: PublishOptions,
): Promise<readonly PublishReceipt[]> {
  if (reference.digest !== undefined)
    throw new SkillsError(
      "INVALID_OPTIONS",
      "what is published gets its digest; name a repository, with or without a tag",
    );
  const find = storedCredentials();
  const receipts: PublishReceipt[] = [];
  for (const skill of skills) {
    const repository = skills.length === 1 ? reference.repository : `${reference.repository}/${skill.slug}`;
    const tag = reference.tag ?? tagOf(skill);
    // Parsed again, because the repository now contains the name of the skill.
    const target = parseReference(toReferenceLabel({ registry: reference.registry, repository, tag }));
    const registry = new OciRegistry(target, { action: "pull,push", fetcher: options.fetcher, find });
    receipts.push(await publishSkill(registry, { ...target, tag }, skill, options));
  }
  return receipts;
}

/** Returns the version as a tag, in which `+` is not allowed; `latest` for a skill without a version. */
function tagOf({ version }: PublishableSkill): string {
  return version === "0.0.0" ? "latest" : version.replaceAll("+", "_");
}

async function publishSkill(
  registry: OciRegistry,
  target: OciReference & { readonly tag: string },
  skill: PublishableSkill,
  { signal, replaces }: PublishOptions,
): Promise<PublishReceipt> {
  const { blobs, manifests, index } = await toArtifact(skill);
  const { digest } = index.descriptor;
  const present = await registry.manifest(target.tag, signal, digest);
  const isThere = present === "unchanged";
  if (!isThere && present !== undefined && !replaces && parseVersion(target.tag) !== null)
    throw new SkillsError(
      "INVALID_OPTIONS",
      `${registry.label}:${target.tag} is published with other content, ${present.digest}: give the skill a new version, or replace it with --replace`,
    );
  if (!isThere) {
    for (const blob of blobs) await pushBlob(registry, blob, signal);
    for (const manifest of manifests) await pushManifest(registry, manifest, signal);
    await pushManifest(registry, index, signal, target.tag);
  }
  const { signature } = skill;
  const isNewlySigned = signature !== undefined && (await pushSignature(registry, index.descriptor, signature, signal));
  const name = nameOf(target.repository);
  const notes =
    name === skill.slug
      ? []
      : [`ToolHive installs it only from a repository whose last part is ${skill.slug}, not ${name}.`];
  return {
    slug: skill.slug,
    source: { label: toReferenceLabel(target), kind: "scheme", url: toReferenceUrl(target) },
    pin: digest,
    isUnchanged: isThere && !isNewlySigned,
    isSigned: signature !== undefined,
    notes,
  };
}

interface BuiltArtifact {
  readonly blobs: readonly PushedContent[];
  readonly manifests: readonly PushedContent[];
  readonly index: PushedContent;
}

/** Builds a skill in ToolHive's form; its bytes depend only on the skill. */
async function toArtifact({
  slug: name,
  description,
  version,
  allowedTools,
  files,
}: PublishableSkill): Promise<BuiltArtifact> {
  const layer = await toPushedContent(await toTarGz(files), ociMediaTypes.layer);
  const unpacked = await ociDigest(await promisify(gunzip)(layer.bytes));
  const said = Object.entries({ name, description, version }).map(
    ([key, value]) => [`dev.toolhive.skills.${key}`, value] as const,
  );
  const annotations = { "org.opencontainers.image.created": epoch, ...Object.fromEntries(said) };
  const labels = {
    ...Object.fromEntries(said),
    "dev.toolhive.skills.allowedTools": JSON.stringify(allowedTools),
    "dev.toolhive.skills.files": JSON.stringify(files.map(({ path }) => path).sort()),
  };
  const blobs = [layer];
  const manifests: PushedContent[] = [];
  const platforms: object[] = [];
  for (const architecture of architectures) {
    const platform = { architecture, os: "linux" };
    const rootfs = { type: "layers", diff_ids: [unpacked] };
    const history = [{ created: epoch, created_by: "acp-skills publish" }];
    const image = { created: epoch, ...platform, config: { Labels: labels }, rootfs, history };
    const config = await toPushedContent(image, ociMediaTypes.config);
    const head = { schemaVersion: 2, mediaType: ociMediaTypes.manifest, artifactType };
    const content = { ...head, config: config.descriptor, layers: [layer.descriptor], annotations };
    const manifest = await toPushedContent(content, ociMediaTypes.manifest);
    blobs.push(config);
    manifests.push(manifest);
    platforms.push({ ...manifest.descriptor, platform });
  }
  const head = { schemaVersion: 2, mediaType: ociMediaTypes.index, artifactType };
  return {
    blobs,
    manifests,
    index: await toPushedContent({ ...head, manifests: platforms, annotations }, ociMediaTypes.index),
  };
}
