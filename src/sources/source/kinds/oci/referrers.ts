import { maxBundleBytes } from "../../../../skills/signature.ts";
import { type BlobDescriptor, type ImageIndex, manifestLimits, ociMediaTypes, parseOciManifest } from "./manifest.ts";
import { type PushedContent, pushBlob, pushManifest, toPushedContent } from "./push.ts";
import type { OciRegistry } from "./registry.ts";
import { badSource } from "../../source-label.ts";

const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json";
const bundleFamily = /^application\/vnd\.dev\.sigstore\.bundle\b/;
const created = "org.opencontainers.image.created";
/** Marks a bundle over the files of the skill, with its digest; those of others, over a manifest, prove nothing about these files. */
const ownBundle = "dev.acp-skills.bundle";
/** What registries without the referrers API answer. */
const without: ReadonlySet<number> = new Set([400, 404, 405, 501]);

/** What refers to a digest, by the API of registries, or by the tag that stands for it where there is none. */
async function listReferrers(
  registry: OciRegistry,
  digest: string,
  signal: AbortSignal,
): Promise<ImageIndex["manifests"]> {
  const answer = await registry.ask({ path: `referrers/${digest}`, maxBytes: manifestLimits.bytes }, signal);
  if (!without.has(answer.status)) {
    const { body, headers } = registry.requireSuccess(answer, "its signatures");
    const index = parseOciManifest(body, "The list of its signatures", headers["content-type"]);
    return index.type === "index" ? index.manifests : [];
  }
  const tagged = await registry.manifest(fallbackTag(digest), signal);
  return tagged?.content.type === "index" ? tagged.content.manifests : [];
}

function fallbackTag(digest: string): string {
  return digest.replace(":", "-").slice(0, 128);
}

/**
 * The newest Sigstore bundle over the files of what has one of these digests, of the first that has any. It is handed on as it is; whoever
 * trusts it verifies it.
 */
export async function readSignature(
  registry: OciRegistry,
  digests: readonly string[],
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const rank = ({ annotations }: BlobDescriptor): string => annotations[created] ?? "";
  for (const digest of new Set(digests)) {
    const all = await listReferrers(registry, digest, signal);
    const bundles = all.filter(({ annotations }) => annotations[ownBundle] !== undefined);
    const [chosen] = bundles.sort((a, b) => (rank(a) < rank(b) ? 1 : -1));
    if (chosen === undefined) continue;
    const received = await registry.manifest(chosen.digest, signal);
    const manifest = received?.content.type === "manifest" ? received.content : undefined;
    const layer = manifest?.layers.find(({ mediaType }) => bundleFamily.test(mediaType));
    if (manifest?.subject?.digest !== digest || layer === undefined)
      throw badSource(`The signature ${chosen.digest} of ${registry.place} is not one of ${digest}`);
    if (layer.size > maxBundleBytes)
      throw badSource(`The signature of ${registry.place} has ${layer.size} bytes; the limit is ${maxBundleBytes}`);
    return await registry.blob(layer, "The signature", signal);
  }
  return undefined;
}

/** Adds a bundle to what refers to a manifest; whether it was not there yet. */
export async function pushSignature(
  registry: OciRegistry,
  subject: PushedContent["descriptor"],
  bundle: Uint8Array,
  signal: AbortSignal,
): Promise<boolean> {
  const layer = await toPushedContent(bundle, bundleType);
  const present = await listReferrers(registry, subject.digest, signal);
  if (present.some(({ annotations }) => annotations[ownBundle] === layer.descriptor.digest)) return false;
  const config = await toPushedContent({}, ociMediaTypes.empty);
  const annotations = {
    ...{ [created]: new Date().toISOString(), "dev.sigstore.bundle.content": "dsse-envelope" },
    [ownBundle]: layer.descriptor.digest,
  };
  const head = { schemaVersion: 2, mediaType: ociMediaTypes.manifest, artifactType: bundleType };
  const content = { ...head, config: config.descriptor, layers: [layer.descriptor], subject, annotations };
  const manifest = await toPushedContent(content, ociMediaTypes.manifest);
  for (const blob of [config, layer]) await pushBlob(registry, blob, signal);
  const { isListed } = await pushManifest(registry, manifest, signal);
  if (isListed) return true;
  const manifests = [...present, { ...manifest.descriptor, artifactType: bundleType, annotations }];
  const index = { schemaVersion: 2, mediaType: ociMediaTypes.index, manifests };
  await pushManifest(registry, await toPushedContent(index, ociMediaTypes.index), signal, fallbackTag(subject.digest));
  return true;
}
