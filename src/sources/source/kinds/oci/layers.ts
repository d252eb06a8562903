import { SkillsError } from "../../../../base/errors.ts";
import type { ArchiveContent } from "../../../archive/archive-content.ts";
import { remotePathFault } from "../../../archive/check-path.ts";
import { readArchive } from "../../../archive/read-archive.ts";
import { skillLimits } from "../../../archive/skill-limits.ts";
import { type FileTree, archiveTree, nameOf } from "../../../reader/trees.ts";
import type { SkillFile } from "../../../reader.ts";
import { type BlobDescriptor, type ImageManifest, ociMediaTypes } from "./manifest.ts";
import type { OciRegistry } from "./registry.ts";
import { badSource } from "../../source-label.ts";

/** The limits of one artifact, which may hold several skills. */
const artifactLimits = {
  packedBytes: 2 * skillLimits.packedBytes,
  bytes: 2 * skillLimits.bytes,
  files: 5 * skillLimits.files,
  entries: 20 * skillLimits.files,
  whiteouts: 1_000,
  durationMs: 300_000,
} as const;

const title = "org.opencontainers.image.title";
const whiteout = ".wh.";
const opaque = ".wh..wh..opq";

type Layer = Pick<ArchiveContent, "files" | "links" | "unusable">;

/** Reads the files of an artifact within its limits. Throws the errors of `stackLayers`, and EXECUTION_TIMEOUT. */
export async function readLayers(
  manifest: ImageManifest,
  registry: OciRegistry,
  signal: AbortSignal,
  ms: number = artifactLimits.durationMs,
): Promise<FileTree> {
  const late = AbortSignal.timeout(ms);
  try {
    return await stackLayers(manifest, registry, AbortSignal.any([signal, late]));
  } catch (error) {
    if (signal.aborted || !late.aborted) throw error;
    const message = `The layers of ${registry.label} did not arrive within ${ms / 1_000} s; try again.`;
    throw new SkillsError("EXECUTION_TIMEOUT", message, { cause: error });
  }
}

/**
 * Reads an artifact: its layers one above the other, without the files that whiteouts remove. A layer is an archive, or one file that its
 * title names. Throws SOURCE_INVALID.
 */
async function stackLayers({ layers }: ImageManifest, registry: OciRegistry, signal: AbortSignal): Promise<FileTree> {
  const present = layers.filter(({ mediaType }) => mediaType !== ociMediaTypes.empty);
  const packed = present.reduce((sum, { size }) => sum + size, 0);
  if (packed > artifactLimits.packedBytes)
    throw badSource(`The layers have ${packed} bytes; the limit is ${artifactLimits.packedBytes}`);
  const files = new Map<string, SkillFile>();
  const links = new Map<string, string>();
  const unusable: Layer["unusable"][number][] = [];
  let [left, whiteouts]: [number, number] = [artifactLimits.bytes, artifactLimits.whiteouts];
  for (const [index, descriptor] of present.entries()) {
    const what = `The layer ${index + 1} of ${present.length}`;
    if ((descriptor.urls ?? []).length > 0) throw badSource(`${what} is somewhere else than in the registry`);
    const bytes = await registry.blob(descriptor, what, signal);
    const layer = isArchive(descriptor) ? await unpack(bytes, left, what, signal) : oneFile(bytes, descriptor, what);
    const removed = layer.files.filter(({ path }) => nameOf(path).startsWith(whiteout));
    if ((whiteouts -= removed.length) < 0)
      throw badSource(`The layers have more than ${artifactLimits.whiteouts} whiteouts`);
    for (const { path } of removed) for (const all of [files, links]) remove(all, path);
    for (const file of layer.files) {
      if (nameOf(file.path).startsWith(whiteout)) continue;
      left -= file.bytes.length;
      // A copy, because the archive around the file may be much larger.
      files.set(file.path, { ...file, bytes: new Uint8Array(file.bytes) });
      links.delete(file.path);
    }
    for (const { path, target } of layer.links) {
      files.delete(path);
      links.set(path, target);
    }
    unusable.push(...layer.unusable);
    if (left < 0 || files.size + links.size > artifactLimits.files)
      throw badSource(`The layers have more than ${artifactLimits.files} files, or ${artifactLimits.bytes} bytes`);
  }
  return archiveTree({
    files: [...files.values()],
    links: Array.from(links, ([path, target]) => ({ path, target })),
    unusable,
  });
}

function isArchive({ mediaType, annotations }: BlobDescriptor): boolean {
  return /\btar\b|rootfs|gzip$/i.test(mediaType) || annotations["io.deis.oras.content.unpack"] === "true";
}

async function unpack(bytes: Uint8Array, left: number, what: string, signal: AbortSignal): Promise<Layer> {
  if (Buffer.from(bytes.subarray(0, 4)).toString("hex") === "28b52ffd")
    throw badSource(`${what} is compressed with zstd, which is not read; push it with gzip`);
  const { files, entries } = artifactLimits;
  const unpacked = Math.max(left, 0) + entries * 512;
  return await readArchive(
    bytes,
    { links: "list", unusable: "list", limits: { files, entries, bytes: Math.max(left, 0), unpacked } },
    signal,
  );
}

function oneFile(bytes: Uint8Array, { annotations, mediaType }: BlobDescriptor, what: string): Layer {
  const path = annotations[title] ?? (/^text\/(?:x-)?markdown\b/i.test(mediaType) ? "SKILL.md" : undefined);
  if (path === undefined) throw badSource(`${what} is neither an archive nor a file with a title`);
  const why = remotePathFault(path);
  if (why !== undefined) return { files: [], links: [], unusable: [{ path, why }] };
  return { files: [{ path, bytes, executable: false }], links: [], unusable: [] };
}

/** Removes the files that a whiteout hides: all in its directory, or the file or directory of its name. */
function remove(all: Map<string, unknown>, marker: string): void {
  const name = nameOf(marker);
  const directory = marker.slice(0, marker.length - name.length);
  const hidden = name === opaque ? directory : `${directory}${name.slice(whiteout.length)}`;
  const inside = name === opaque ? directory : `${hidden}/`;
  for (const path of all.keys()) if (path === hidden || path.startsWith(inside)) all.delete(path);
}
