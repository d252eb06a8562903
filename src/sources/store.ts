import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { SourceDenial, SourceReader } from "./reader.ts";
import { parseSource } from "./source.ts";
import { type Copies, openCopies } from "./store/open-copies.ts";
import type { SkillReading } from "./store/skill-store.ts";
import { type SkillSource, diskSkillBytes, diskSkillFiles } from "../skills/files.ts";
import { type SkillHasher, createSkillHasher, isHiddenName } from "../skills/hash.ts";
import { loadManifestReader, needsManifestReader, readDirectory } from "../skills/skillset.ts";
import { toSlug } from "../skills/skill.ts";

export { sayFailure } from "./store/refresh.ts";
export type { Copies } from "./store/open-copies.ts";

export interface SourcesOptions {
  readonly dataDirectory: string;
  /** As people name them. */
  readonly sources: readonly string[];
  /** Hosts with private addresses that may be connected to. */
  readonly allowPrivate: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Replaceable parts, for tests. */
export interface SourcesParts {
  readonly hasher?: SkillHasher;
  readonly openReader?: () => Promise<SourceReader>;
  readonly denied?: SourceDenial;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Opens the copies of skills that others publish. Throws INVALID_OPTIONS for a text that names no source. */
export function openSourceCopies(
  { dataDirectory, sources, allowPrivate, clock, log }: SourcesOptions,
  { hasher = createSkillHasher(), openReader, denied, now }: SourcesParts = {},
): Copies {
  const parsed = sources.map(parseSource);
  return openCopies({
    dataDirectory,
    sources: parsed,
    reading: skillReading(hasher),
    openReader: openReader ?? (() => openNetworkReader(parsed, allowPrivate, denied)),
    clock,
    log,
    ...(now !== undefined && { now }),
  });
}

async function openNetworkReader(
  sources: readonly { readonly url: string }[],
  allowPrivate: readonly string[],
  denied: SourceDenial | undefined,
): Promise<SourceReader> {
  const [{ openSourceReader }, { describeSkillText: describe }] = await Promise.all([
    import("./reader/open-source-reader.ts"),
    import("../skills/document.ts"),
  ]);
  return openSourceReader({ allowPrivate, typed: sources.map(({ url }) => url), denied, describe });
}

/** What the store must know about skills. */
export function skillReading(hasher: SkillHasher): SkillReading {
  const source: SkillSource = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  return {
    digestOf: async (directory, signal) => (await hasher.hash(source, directory, signal)).digest,
    isHidden: isHiddenName,
    async slugOf(directory, name) {
      const expected = toSlug(name);
      const read = () => readDirectory(directory, expected ?? name, { files: source.files });
      let record = read();
      if (record === needsManifestReader) {
        await loadManifestReader();
        record = read();
      }
      return (record === needsManifestReader ? undefined : record?.skill?.slug) ?? expected;
    },
  };
}
