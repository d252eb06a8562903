import parseVersion from "semver/functions/parse.js";
import compareVersions from "semver/functions/rcompare.js";
import { LimitedMap } from "../../../../base/limited-map.ts";
import { inParallel } from "../../../../base/promises.ts";
import { isSkillsError } from "../../../../base/errors.ts";
import { byCodePoint } from "../../../../base/text/code-points.ts";
import { type FileTree, findSkills, listSkillsOf, nameOf, readSkillFrom } from "../../../reader/trees.ts";
import { signatureFile } from "../../../../skills/skill.ts";
import type { RemoteIndex, RemoteSkill, SeenBefore, SkillFile } from "../../../reader.ts";
import type { PinnedContent, SourceDriver, SourceDriverOptions } from "../../source-kind.ts";
import { storedCredentials } from "./credentials.ts";
import { readLayers } from "./layers.ts";
import { type BlobDescriptor, type ImageManifest, chooseManifests, declaredSkill } from "./manifest.ts";
import { type OciReference, parseReference, toReferenceLabel, toReferenceUrl } from "./reference.ts";
import { readSignature } from "./referrers.ts";
import { type ReceivedManifest, OciRegistry } from "./registry.ts";
import { badSource } from "../../source-label.ts";

/** The form of `place`: the digest of the manifest with the skill's layers, and the directory in them; without one, their only skill. */
const placeForm = /^([a-z0-9]+:[0-9a-f]+)(?:\/(.*))?$/s;
const atOnce = 4;
/** The number of artifacts whose files stay in memory between listing and downloading. */
const recent = 2;
/** The number of repositories whose tokens are stored. */
const repositoriesAtOnce = 100;

/** Opens a driver for OCI registries. Connects to nothing before the first read. */
export function openRegistrySource({ fetcher }: SourceDriverOptions): SourceDriver {
  const trees = new LimitedMap<string, FileTree>(recent);
  const find = storedCredentials();
  const registries = new LimitedMap<string, OciRegistry>(repositoriesAtOnce);
  const connect = (reference: OciReference): OciRegistry => {
    const key = toReferenceUrl(reference);
    const known = registries.get(key) ?? new OciRegistry(reference, { action: "pull", fetcher, find });
    registries.set(key, known);
    return known;
  };
  const filesOf = async (
    manifest: ImageManifest,
    digest: string,
    registry: OciRegistry,
    signal: AbortSignal,
  ): Promise<FileTree> => {
    const known = trees.get(digest);
    if (known !== undefined) return known;
    const tree = await readLayers(manifest, registry, signal);
    trees.set(digest, tree);
    return tree;
  };
  return {
    async readIndex(source, { signal, etags = {} }) {
      signal.throwIfAborted();
      const reference = parseReference(source.label);
      const registry = connect(reference);
      const { name, found } = await findManifest(registry, reference, etags, signal);
      if (found === "unchanged") return found;
      const listed = await listSkills({ reference, top: found, registry, filesOf, signal });
      return { source, form: "scheme", ...listed, etags: { [etagKey(registry, name)]: found.digest } };
    },
    async readFiles({ source, pin, place }, signal) {
      signal.throwIfAborted();
      const registry = connect(parseReference(source));
      const [, digest = "", directory] = placeForm.exec(place) ?? [];
      const received = await registry.manifest(digest, signal);
      if (received?.content.type !== "manifest")
        throw badSource(`${registry.label} has no manifest ${digest} any more`);
      const tree = await filesOf(received.content, digest, registry, signal);
      const files = await readSkill(tree, directory, signal);
      if (files.some(({ path }) => path === signatureFile)) return files;
      const bytes = await readSignature(registry, [digest, pin], signal);
      return bytes === undefined ? files : [...files, { path: signatureFile, bytes, executable: false }];
    },
    close: () => Promise.resolve(),
  };
}

function etagKey({ origin, label }: OciRegistry, name: string): string {
  return `${origin}/v2/${label.slice(label.indexOf("/") + 1)}/manifests/${name}`;
}

interface FoundManifest {
  readonly name: string;
  readonly found: ReceivedManifest | "unchanged";
}

/** Finds the manifest that a reference names: by its digest, its tag, the tag `latest`, or the highest version among the tags. */
async function findManifest(
  registry: OciRegistry,
  { digest, tag }: OciReference,
  etags: NonNullable<SeenBefore["etags"]>,
  signal: AbortSignal,
): Promise<FoundManifest> {
  const name = digest ?? tag ?? "latest";
  const found = await registry.manifest(name, signal, etags[etagKey(registry, name)]);
  if (found !== undefined) return { name, found };
  if (digest !== undefined || tag !== undefined)
    throw badSource(`${registry.label} has nothing with the ${digest === undefined ? "tag" : "digest"} ${name}`);
  const newest = newestVersion(await registry.tags(signal));
  if (newest === undefined)
    throw badSource(`${registry.label} has neither the tag latest nor one that is a version; name a tag`);
  const other = await registry.manifest(newest, signal, etags[etagKey(registry, newest)]);
  if (other === undefined) throw badSource(`${registry.label} lists the tag ${newest}, and has nothing with it`);
  return { name: newest, found: other };
}

/** Returns the highest version among tags; a prerelease only if there is no other version. */
export function newestVersion(tags: readonly string[]): string | undefined {
  const versions = tags.flatMap((tag) => {
    const version = tag.length > 128 ? null : parseVersion(tag);
    return version === null ? [] : [{ tag, version, isRelease: version.prerelease.length === 0 }];
  });
  const wanted = versions.some(({ isRelease }) => isRelease) ? versions.filter(({ isRelease }) => isRelease) : versions;
  return wanted.sort((a, b) => compareVersions(a.version, b.version) || byCodePoint(a.tag, b.tag))[0]?.tag;
}

interface Listing {
  readonly reference: OciReference;
  readonly top: ReceivedManifest;
  readonly registry: OciRegistry;
  readonly filesOf: (
    manifest: ImageManifest,
    digest: string,
    registry: OciRegistry,
    signal: AbortSignal,
  ) => Promise<FileTree>;
  readonly signal: AbortSignal;
}

type Listed = Pick<RemoteIndex, "skills" | "problems">;

async function listSkills(listing: Listing): Promise<Listed> {
  const { top, signal } = listing;
  if (top.content.type === "manifest") return await listManifest(top.content, top.digest, {}, listing);
  const { isOne, chosen } = chooseManifests(top.content);
  const shared = isOne ? top.content.annotations : {};
  if (chosen.length === 0) return { skills: [], problems: ["Its index lists no manifest."] };
  const listed = await inParallel(chosen, atOnce, async (entry): Promise<Listed> => {
    try {
      return await listEntry(entry, { ...shared, ...entry.annotations }, listing);
    } catch (error) {
      signal.throwIfAborted();
      // An artifact that cannot be reached now may be there; among several, a bad one hides no other.
      if (isOne || !isSkillsError(error, "SOURCE_INVALID")) throw error;
      return { skills: [], problems: [error.message] };
    }
  });
  const skills = new Map<string, RemoteSkill>();
  const problems = listed.flatMap((one) => one.problems);
  for (const skill of listed.flatMap((one) => one.skills)) {
    if (!skills.has(skill.name)) skills.set(skill.name, skill);
    else problems.push(`The name ${skill.name} is listed twice; the first one is used.`);
  }
  return { skills: [...skills.values()].sort((a, b) => byCodePoint(a.name, b.name)), problems };
}

/** Lists one entry of an index. If its annotations declare a skill, the manifest is read only for the download. */
async function listEntry(
  { digest }: BlobDescriptor,
  annotations: BlobDescriptor["annotations"],
  listing: Listing,
): Promise<Listed> {
  const declared = declaredSkill(annotations);
  if (declared !== undefined) return { skills: [{ ...declared, content: toContent(digest, listing) }], problems: [] };
  const { registry, signal } = listing;
  const received = await registry.manifest(digest, signal);
  if (received === undefined) throw badSource(`${registry.label} has no manifest ${digest}, which its index lists`);
  if (received.content.type === "index")
    throw badSource(`${registry.label}@${digest} is an index in an index, which is not read`);
  return await listManifest(received.content, digest, annotations, listing);
}

async function listManifest(
  manifest: ImageManifest,
  digest: string,
  annotations: BlobDescriptor["annotations"],
  listing: Listing,
): Promise<Listed> {
  const declared = declaredSkill({ ...annotations, ...manifest.annotations });
  if (declared !== undefined) return { skills: [{ ...declared, content: toContent(digest, listing) }], problems: [] };
  const { registry, reference, filesOf, signal } = listing;
  const tree = await filesOf(manifest, digest, registry, signal);
  const fallback = nameOf(reference.repository);
  const skills = findSkills(tree).map((directory) => ({
    directory,
    fallback,
    content: toContent(`${digest}/${directory}`, listing),
  }));
  if (skills.length === 0) throw badSource(`${registry.label}@${digest} holds no SKILL.md`);
  return await listSkillsOf(tree, skills, signal);
}

function toContent(directory: string, { reference, top }: Pick<Listing, "reference" | "top">): PinnedContent {
  return { type: "pinned", source: toReferenceLabel(reference), pin: top.digest, place: directory };
}

/** Reads the files of a skill. A link in it makes it unusable, because it can lead anywhere. */
async function readSkill(
  tree: FileTree,
  directory: string | undefined,
  signal: AbortSignal,
): Promise<readonly SkillFile[]> {
  const found = findSkills(tree);
  const [only] = found;
  if (directory === undefined && (only === undefined || found.length > 1))
    throw badSource(`The artifact declares one skill, and holds ${found.length}`);
  const at = directory ?? only ?? "";
  const inside = at === "" ? "" : `${at}/`;
  for (const [path, { isLink }] of tree.files)
    if (isLink && path.startsWith(inside))
      throw badSource(
        `The layers have a link, ${JSON.stringify(path)}; links are not unpacked because they can lead anywhere`,
      );
  return await readSkillFrom(tree, at, signal);
}
