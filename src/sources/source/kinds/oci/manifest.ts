import { z } from "zod";
import type { SkillsError } from "../../../../base/errors.ts";
import { hasTooManyValues, isObject, maxJsonValues, parseIfJson } from "../../../../base/json/json-value.ts";
import { cleanText } from "../../../../base/text/unsafe-characters.ts";
import { isSlug } from "../../../../skills/skill.ts";
import { hashInSlices } from "../../../../base/text/hash-in-slices.ts";
import { contentDigest } from "./reference.ts";
import { badSource } from "../../source-label.ts";

export const ociMediaTypes = {
  manifest: "application/vnd.oci.image.manifest.v1+json",
  index: "application/vnd.oci.image.index.v1+json",
  dockerManifest: "application/vnd.docker.distribution.manifest.v2+json",
  dockerIndex: "application/vnd.docker.distribution.manifest.list.v2+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
  empty: "application/vnd.oci.empty.v1+json",
} as const;

/** The limits of the documents that are read before any layer. */
export const manifestLimits = { bytes: 4 * 1024 * 1024, manifests: 256, layers: 64 } as const;

const annotations = z.record(z.string(), z.string()).default({});
const descriptor = z.object({
  mediaType: z.string().max(255),
  digest: z.string().regex(contentDigest, "the digest is neither sha256 nor sha512"),
  size: z.number().int().min(0),
  annotations,
  artifactType: z.string().optional(),
  platform: z.object({ os: z.string(), architecture: z.string() }).optional(),
  urls: z.array(z.string()).optional(),
});
const artifactType = z.string().optional();
const subject = descriptor.optional();
const manifestSchema = z.object({
  ...{ artifactType, subject, annotations, config: descriptor },
  layers: z.array(descriptor),
});
const indexSchema = z.object({ ...{ artifactType, annotations }, manifests: z.array(descriptor) });

export type BlobDescriptor = z.infer<typeof descriptor>;
export type ImageManifest = z.infer<typeof manifestSchema> & { readonly type: "manifest" };
export type ImageIndex = z.infer<typeof indexSchema> & { readonly type: "index" };

/** Parses a manifest or an index. `answered`: the received Content-Type; `what` starts a sentence. Throws SOURCE_INVALID. */
export function parseOciManifest(bytes: Uint8Array, what: string, answered = ""): ImageManifest | ImageIndex {
  const fault = (why: string): SkillsError => badSource(`${what} ${why}`);
  if (hasTooManyValues(bytes)) throw fault(`has more than ${maxJsonValues} keys and values`);
  const json = parseIfJson(Buffer.from(bytes).toString("utf8"));
  if (!isObject(json)) throw fault("is no manifest: it is not a JSON object");
  if (json["schemaVersion"] !== 2) throw fault("has a schemaVersion other than 2; push it again with a current tool");
  const { manifests, layers, mediaType } = json;
  // With both fields, two readers could see different artifacts.
  if (Array.isArray(manifests) === Array.isArray(layers))
    throw fault("is neither a manifest with layers nor an index of manifests");
  const expected: readonly string[] = Array.isArray(layers)
    ? [ociMediaTypes.manifest, ociMediaTypes.dockerManifest]
    : [ociMediaTypes.index, ociMediaTypes.dockerIndex];
  const contentType = answered.replace(/;.*$/s, "").trim().toLowerCase();
  const declared = [mediaType, Object.values<string>(ociMediaTypes).includes(contentType) ? contentType : undefined];
  for (const type of declared)
    if (type !== undefined && (typeof type !== "string" || !expected.includes(type)))
      throw fault(`has the media type ${cleanText(JSON.stringify(type), 100)}, and the content of another`);
  const [entries = [], max, name] = Array.isArray(layers)
    ? ([layers, manifestLimits.layers, "layers"] as const)
    : ([manifests as unknown[], manifestLimits.manifests, "manifests"] as const);
  if (entries.length > max) throw fault(`lists ${entries.length} ${name}; the limit is ${max}`);
  const parsed = Array.isArray(layers)
    ? manifestSchema.transform((value) => ({ ...value, type: "manifest" as const })).safeParse(json)
    : indexSchema.transform((value) => ({ ...value, type: "index" as const })).safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw fault(`is not valid: ${cleanText(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`, 200)}`);
}

/** Whether an entry is a builder's attestation, which is in an index beside the images that it describes. */
function isAttestation({ platform, annotations }: BlobDescriptor): boolean {
  return platform?.os === "unknown" || annotations["vnd.docker.reference.type"] !== undefined;
}

/**
 * Returns the manifests of an index that hold skills. If they are one artifact for several platforms, every machine reads the one for
 * linux/amd64, or else the first, so that all install the same bytes.
 */
export function chooseManifests({ manifests }: ImageIndex): {
  readonly isOne: boolean;
  readonly chosen: readonly BlobDescriptor[];
} {
  const usable = manifests.filter((one) => !isAttestation(one));
  const isOne = usable.every(({ platform }) => platform !== undefined);
  if (!isOne) return { isOne, chosen: usable };
  const usual = usable.find(({ platform }) => platform?.os === "linux" && platform.architecture === "amd64");
  return { isOne, chosen: [usual ?? usable[0]].flatMap((one) => one ?? []) };
}

/** The prefixes of skill annotations: ToolHive, the proposed specification for Agent Skills, and Alibaba's registry. */
const families = ["dev.toolhive.skills", "io.agentskills.skill", "org.agent.skill"] as const;
const general = "org.opencontainers.image";

export interface DeclaredSkill {
  readonly name: string;
  readonly description: string;
  readonly version?: string;
}

/** Returns the one skill that annotations name and describe; undefined without one: then only its files describe it. */
export function declaredSkill(annotations: Readonly<Record<string, string>>): DeclaredSkill | undefined {
  const family = families.find((one) => annotations[`${one}.name`] !== undefined);
  if (family === undefined) return undefined;
  const find = (key: string, length: number): string =>
    cleanText(annotations[`${family}.${key}`] ?? annotations[`${general}.${key}`] ?? "", length).trim();
  const [name, description, version] = [
    annotations[`${family}.name`] ?? "",
    find("description", 1_024),
    find("version", 64),
  ];
  if (!isSlug(name) || description === "") return undefined;
  return { name, description, ...(version !== "" && { version }) };
}

/** Computes a digest in the form of manifests. */
export async function ociDigest(bytes: Uint8Array, algorithm: "sha256" | "sha512" = "sha256"): Promise<string> {
  return `${algorithm}:${await hashInSlices(bytes, algorithm)}`;
}

/** Throws SOURCE_INVALID unless the bytes have the digest. `what` starts a sentence. */
export async function verifyDigest(bytes: Uint8Array, digest: string, what: string): Promise<void> {
  const received = await ociDigest(bytes, digest.startsWith("sha512:") ? "sha512" : "sha256");
  if (received === digest) return;
  throw badSource(`${what} is not what was asked for: its digest is ${received} instead of ${digest}`);
}
