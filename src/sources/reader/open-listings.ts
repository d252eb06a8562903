import { describeSkillText as describe } from "../../skills/document.ts";
import { openFetcher } from "../fetch/open-fetcher.ts";
import type { RemoteIndex, RemoteSkill } from "../reader.ts";
import { type Source, parseSource } from "../source.ts";
import { openGitSource } from "./git/git-source.ts";
import { readDescriptors } from "./read-descriptors.ts";
import { readSource } from "./read-source.ts";

/** What sources list, for one command: their descriptors are read only where it needs them. */
export interface SourceListings {
  readonly sources: readonly Source[];
  readonly read: (source: Source, signal: AbortSignal) => Promise<RemoteIndex>;
  readonly readDescriptors: (skills: readonly RemoteSkill[], signal: AbortSignal) => ReturnType<typeof readDescriptors>;
  readonly close: () => Promise<void>;
}

/** Throws INVALID_OPTIONS for texts that name no source or host. */
export function openListings(texts: readonly string[], allowPrivate: readonly string[]): SourceListings {
  const sources = texts.map((text) => parseSource(text));
  const rules = { allowPrivate, typed: sources.map(({ url }) => url) };
  const fetcher = openFetcher(rules);
  const git = openGitSource({ ...rules, fetcher, describe });
  return {
    sources,
    read: (source, signal) => {
      const readMarketplace = git.readMarketplace.bind(git);
      return readSource(source, { fetcher, signal, git, readMarketplace, describe });
    },
    readDescriptors: (skills, signal) => readDescriptors(skills, { fetcher, signal }),
    async close() {
      try {
        await git.close();
      } finally {
        await fetcher.close();
      }
    },
  };
}
