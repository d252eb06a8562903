import { maxBundleBytes } from "../../../../skills/signature.ts";
import { type BlobDescriptor, type ImageIndex, manifestLimits, ociMediaTypes, parseOciManifest } from "./manifest.ts";
import { type PushedContent, pushBlob, pushManifest, toPushedContent } from "./push.ts";
import type { OciRegistry } from "./registry.ts";
import { badSource } from "../../source-label.ts";

const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json";
const bundleFamily = /^application\/vnd\.dev\.sigstore\.bundle\b/;
const created = "org.opencontainers.image.created";
/** The annotation of a bundle over a skill's files, with its digest. Bundles over a manifest prove nothing about the files. */
const ownBundle = "dev.acp-skills.bundle";
/** The statuses with which registries without the referrers API answer. */
const without: ReadonlySet<number> = new Set([400, 404, 405, 501]);

/** Lists the referrers of a digest, by the API of registries; without the API, by the tag that replaces it. */
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

/** Reads the newest Sigstore bundle over the files of the first digest that has one. The bundle is not verified here. */
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
      throw badSource(`The signature ${chosen.digest} of ${registry.label} is not one of ${digest}`);
    if (layer.size > maxBundleBytes)
      throw badSource(`The signature of ${registry.label} has ${layer.size} bytes; the limit is ${maxBundleBytes}`);
    return await registry.blob(layer, "The signature", signal);
  }
  return undefined;
}

/** Adds a bundle to the referrers of a manifest. Returns false if it was there already. */
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
