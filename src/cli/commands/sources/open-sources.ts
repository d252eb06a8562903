import type { Fetcher } from "../../../sources/fetch/fetcher.ts";
import type { RemoteIndex } from "../../../sources/remote-skill.ts";
import { parseSource } from "../../../sources/source.ts";
import type { Source } from "../../../sources/source.ts";

/** Sources for one command, with what it takes to read them. */
export interface OpenSources {
  readonly sources: readonly Source[];
  readonly fetcher: Fetcher;
  readonly read: (source: Source, signal: AbortSignal) => Promise<RemoteIndex>;
  readonly close: () => Promise<void>;
}

/** Throws INVALID_OPTIONS for texts that name no source or host. Loads what connects, so only where sources are read. */
export async function openCliSources(texts: readonly string[], allowPrivate: readonly string[]): Promise<OpenSources> {
  const sources = texts.map((text) => parseSource(text));
  const [{ openFetcher }, { openGitSource }, { readSource }, { describeSkillText: describe }] = await Promise.all([
    import("../../../sources/fetch/open-fetcher.ts"),
    import("../../../sources/git/git-source.ts"),
    import("../../../sources/reader/read-source.ts"),
    import("../../../skills/document.ts"),
  ]);
  const rules = { allowPrivate, typed: sources.map(({ url }) => url) };
  const fetcher = openFetcher(rules);
  const git = openGitSource({ ...rules, fetcher, describe });
  return {
    sources,
    fetcher,
    read: (source, signal) => {
      const readMarketplace = git.readMarketplace.bind(git);
      return readSource(source, { fetcher, signal, git, readMarketplace, describe });
    },
    async close() {
      try {
        await git.close();
      } finally {
        await fetcher.close();
      }
    },
  };
}
