import { ociDigest } from "./manifest.ts";
import type { OciRegistry } from "./registry.ts";
import { badSource } from "../../source-label.ts";

/** Bytes to push, with their descriptor in manifests. */
export interface PushedContent {
  readonly bytes: Uint8Array;
  readonly descriptor: { readonly mediaType: string; readonly digest: string; readonly size: number };
}

const timeoutMs = 120_000;
const answerBytes = 256 * 1024;

/** Describes bytes, or a value as JSON, for a push. */
export async function toPushedContent(content: Uint8Array | object, mediaType: string): Promise<PushedContent> {
  const bytes = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content));
  return { bytes, descriptor: { mediaType, digest: await ociDigest(bytes), size: bytes.length } };
}

/** Uploads a blob unless it exists. Throws the errors of `requireSuccess`, and SOURCE_INVALID if the upload is to go to another host. */
export async function pushBlob(
  registry: OciRegistry,
  { bytes, descriptor }: PushedContent,
  signal: AbortSignal,
): Promise<void> {
  const { digest } = descriptor;
  const known = await registry.ask({ method: "HEAD", path: `blobs/${digest}`, maxBytes: answerBytes }, signal);
  if (known.status === 200) return;
  const begun = await registry.ask({ method: "POST", path: "blobs/uploads/", maxBytes: answerBytes }, signal);
  registry.requireSuccess(begun, "an upload");
  const location = begun.headers["location"] ?? "";
  const upload = URL.canParse(location, begun.url) ? new URL(location, begun.url) : undefined;
  if (upload?.origin !== registry.origin)
    throw badSource(`${registry.label} wants uploads at another address, which gets none`);
  upload.searchParams.set("digest", digest);
  const headers = { "content-type": "application/octet-stream" };
  const request = { method: "PUT", path: upload.href, headers, body: bytes, maxBytes: answerBytes, timeoutMs } as const;
  registry.requireSuccess(await registry.ask(request, signal), "an upload");
}

/** Uploads a manifest under its digest, or under a tag. Returns whether the registry lists the referrers of its subject. */
export async function pushManifest(
  registry: OciRegistry,
  { bytes, descriptor }: PushedContent,
  signal: AbortSignal,
  name: string = descriptor.digest,
): Promise<{ readonly isListed: boolean }> {
  const headers = { "content-type": descriptor.mediaType };
  const request = { method: "PUT", path: `manifests/${name}`, headers, body: bytes, maxBytes: answerBytes } as const;
  const answer = registry.requireSuccess(await registry.ask(request, signal), "the manifest");
  return { isListed: answer.headers["oci-subject"] !== undefined };
}
