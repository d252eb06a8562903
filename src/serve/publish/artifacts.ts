import type { Steps } from "../../base/promises.ts";
import { hashSteps } from "../../base/text/hash-in-slices.ts";
import { toTarGz } from "../../sources/archive.ts";
import type { SkillFile } from "../../sources/reader.ts";
import { type MadeOfSkills, type PublishingApp, createMadeOfSkills } from "./made-of-skills.ts";
import type { PublishedSkill } from "./publication.ts";
import { type NotPublished, isNotPublished } from "./read-contents.ts";

/** The name of an artifact in its URL. It contains the digest, so that the bytes at a URL never change. */
export interface ArtifactName {
  readonly slug: string;
  /** The first 32 hexadecimal digits of the artifact's SHA-256. */
  readonly digestStart: string;
  readonly type: ArtifactType;
}

/** The types of Agent Skills discovery. */
type ArtifactType = "skill-md" | "archive";

/** The path of indexes and artifacts, below a share's prefix if any. */
export const agentSkillsPath = "/.well-known/agent-skills";

const endings = { "skill-md": "/SKILL.md", archive: ".tar.gz" } as const satisfies Record<ArtifactType, string>;
const artifactName = /^([a-z0-9-]{1,64})-([0-9a-f]{32})(\/SKILL\.md|\.tar\.gz)$/;
const artifactPath = /^(?:\/s\/[^/]+)?\/\.well-known\/agent-skills\/([^/]+(?:\/SKILL\.md)?)$/;

/** Returns the path relative to the index, which works below a share's prefix and behind proxies that add their own. */
export function toArtifactName({ slug, digestStart, type }: ArtifactName): string {
  return `${slug}-${digestStart}${endings[type]}`;
}

/** Parses the name of an artifact; undefined if the text is none. */
export function readArtifactName(text: string): ArtifactName | undefined {
  const [, slug, digestStart, ending] = artifactName.exec(text) ?? [];
  if (slug === undefined || digestStart === undefined) return undefined;
  return { slug, digestStart, type: ending === endings.archive ? "archive" : "skill-md" };
}

/**
 * Whether a request path is that of an artifact. Such paths are exempt from the rate limit: clients fetch all artifacts of an index at
 * once. They drop artifacts with any answer but 200.
 */
export function isArtifactPath(pathname: string): boolean {
  const found = artifactPath.exec(pathname)?.[1];
  return found !== undefined && artifactName.test(found);
}

/** A download with all files of a skill: an archive, or its SKILL.md if that is the only file. */
export interface Artifact {
  readonly name: ArtifactName;
  readonly type: ArtifactType;
  /** The digest of the bytes: `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  /** The path below the server or a share; access is checked at each request. */
  readonly path: string;
  readonly mediaType: string;
}

/** The artifacts of published skills, made only when they are requested. */
export interface Artifacts {
  /** Returns the artifact of a skill; undefined if it cannot be downloaded, and the log says why. */
  of(published: PublishedSkill): Promise<Artifact | undefined>;
  /** Returns the artifacts of all skills of an audience, by slug; the same map as long as nothing changed. */
  ofAll: MadeOfSkills<Artifact>["ofAll"];
  /** Returns the bytes of an artifact of a skill: the current one, or one that it replaced less than `artifactGraceMs` ago. */
  read(published: PublishedSkill, name: ArtifactName): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

/** The maximum size of the artifacts in memory, in bytes; others are made again when they are requested. */
const maxCached = 16 * 1024 * 1024;
/** How long clients with an older index can still fetch a replaced artifact. */
export const artifactGraceMs = 10 * 60 * 1_000;

export const mediaTypes = { "skill-md": "text/markdown; charset=utf-8", archive: "application/gzip" } as const;

export function createArtifacts(app: PublishingApp): Artifacts {
  const { clock } = app;
  const cache = new SizedCache(maxCached);
  /** The times when artifacts were replaced, by name. */
  const replaced = new Map<string, number>();
  /** The current artifacts, by slug. */
  const current = new Map<string, Artifact>();
  /** Bytes that are made again after they were dropped, by name, until all who wait have them. */
  const remade = new Map<string, Uint8Array<ArrayBuffer>>();
  const makings = new Map<string, Promise<Uint8Array<ArrayBuffer> | undefined>>();

  function* make(files: readonly SkillFile[], { skill: { slug } }: PublishedSkill): Steps<Artifact | NotPublished> {
    const type = files.length === 1 ? "skill-md" : "archive";
    let bytes: Uint8Array<ArrayBuffer> | undefined;
    if (type === "skill-md") bytes = files[0]?.bytes as Uint8Array<ArrayBuffer>;
    else {
      let failure: unknown;
      yield toTarGz(files).then(
        (packed) => void (bytes = packed as Uint8Array<ArrayBuffer>),
        (error: unknown) => void (failure = error),
      );
      if (bytes === undefined)
        return { why: `does not fit into an archive: ${failure instanceof Error ? failure.message : String(failure)}` };
    }
    const sha256 = yield* hashSteps(bytes, "sha256");
    const name = { slug, digestStart: sha256.slice(0, 32), type } as const;
    const text = toArtifactName(name);
    // A copy, because the bytes may be a small slice of a large buffer.
    const copy = new Uint8Array(bytes);
    cache.set(text, copy);
    if (makings.has(text)) remade.set(text, copy);
    const known = current.get(slug);
    if (known?.digest === `sha256:${sha256}`) return known;
    replaced.delete(text);
    if (known !== undefined) replace(known);
    const artifact: Artifact = Object.freeze({
      name,
      type,
      digest: `sha256:${sha256}`,
      path: `${agentSkillsPath}/${text}`,
      mediaType: mediaTypes[type],
    });
    current.set(slug, artifact);
    return artifact;
  }

  function replace(artifact: Artifact): void {
    const now = clock.now();
    for (const [text, at] of replaced) {
      if (now - at < artifactGraceMs) break;
      forget(text);
    }
    const text = toArtifactName(artifact.name);
    replaced.delete(text);
    replaced.set(text, now);
  }

  function forget(text: string): void {
    replaced.delete(text);
    cache.delete(text);
  }

  const made: MadeOfSkills<Artifact> = createMadeOfSkills(app, "archive", make);

  return {
    async of(published) {
      const artifact = await made.of(published);
      return isNotPublished(artifact) ? undefined : artifact;
    },
    ofAll: (...given) => made.ofAll(...given),
    async read(published, name) {
      const text = toArtifactName(name);
      const replacedAt = replaced.get(text);
      if (replacedAt !== undefined && clock.now() - replacedAt >= artifactGraceMs) forget(text);
      const bytes = cache.get(text);
      if (bytes !== undefined) return bytes;
      const artifact = await made.of(published);
      if (isNotPublished(artifact) || toArtifactName(artifact.name) !== text) return undefined;
      return cache.get(text) ?? (await makeAgain(published, text));
    },
  };

  async function makeAgain(published: PublishedSkill, text: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    let making = makings.get(text);
    if (making === undefined) {
      making = made
        .again(published)
        .then(() => remade.get(text))
        .finally(() => {
          makings.delete(text);
          remade.delete(text);
        });
      makings.set(text, making);
    }
    return await making;
  }
}

/**
 * A cache of bytes by key, of at most `limit` bytes; beyond it, the least recently used entry is dropped. Dropped bytes that are still in
 * use elsewhere are found again, so that there is no second copy.
 */
export class SizedCache {
  readonly #limit: number;
  readonly #entries = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly #known = new Map<string, WeakRef<Uint8Array<ArrayBuffer>>>();
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): Uint8Array<ArrayBuffer> | undefined {
    const bytes = this.#known.get(key)?.deref();
    if (bytes === undefined) this.delete(key);
    else this.set(key, bytes);
    return bytes;
  }

  set(key: string, bytes: Uint8Array<ArrayBuffer>): void {
    this.#drop(key);
    this.#known.set(key, new WeakRef(bytes));
    this.#entries.set(key, bytes);
    this.#size += bytes.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#limit || oldest === key) break;
      this.#drop(oldest);
    }
  }

  delete(key: string): void {
    this.#drop(key);
    this.#known.delete(key);
  }

  #drop(key: string): void {
    this.#size -= this.#entries.get(key)?.length ?? 0;
    this.#entries.delete(key);
  }
}
