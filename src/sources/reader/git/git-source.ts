import { tmpdir } from "node:os";
import { type Clock, systemClock } from "../../../base/clock.ts";
import { type Resolve, sharedResolver } from "../../../base/network/reach.ts";
import { type AddressOptions, addressRules } from "../../fetch/address-rules.ts";
import type { Fetcher } from "../../fetch.ts";
import {
  isMarketplace,
  marketplacePaths,
  parseJsonFile,
  parseMarketplace,
  rootOfMarketplace,
} from "../marketplaces/marketplace.ts";
import { type PluginTree, type PluginsRead, readSinglePlugin } from "../marketplaces/plugin-tree.ts";
import { type PluginReading, areUnmoved, readPlugins } from "../marketplaces/plugins-elsewhere.ts";
import type { Source } from "../../source.ts";
import { describeSkills, readSkillTexts } from "../trees/describe-skills.ts";
import { findSkills, joinTreePath, nameOf, readSkillFrom, readSmall } from "../trees/file-tree.ts";
import { type GitLimits, type GitUrl, gitLimits } from "../git.ts";
import { type GitProgram, findGit } from "./program/run-git.ts";
import { FetchedRepositories, type Repository } from "./repositories.ts";
import type { RemoteContent, RemoteIndex, SeenBefore, SkillFile } from "../../reader.ts";

/** The options of a git source. The address options are those of the fetcher: the same rules hold for git. */
export interface GitSourceOptions extends AddressOptions {
  readonly fetcher: Fetcher;
  readonly resolve?: Resolve;
  /** Finds git. Default: the git of this machine. Without git, archives of known hosts are read. */
  readonly findProgram?: () => Promise<GitProgram | undefined>;
  readonly archiveUrl?: (url: GitUrl, commit: string) => string;
  readonly temporaryDirectory?: string;
  readonly clock?: Clock;
  readonly limits?: Partial<GitLimits>;
}

/** Git repositories and marketplaces as sources. Repositories stay on disk until `close`, so that their skills are read from one fetch. */
export interface GitSource {
  /** Reads an index. `commit` and `etags` are those of the last index: returns "unchanged" if the new one would be the same. */
  readIndex(source: Source, options: SeenBefore & { readonly signal: AbortSignal }): Promise<RemoteIndex | "unchanged">;
  /** Reads the skills of a marketplace that is one JSON document, in which relative paths lead nowhere. */
  readMarketplace(source: Source, json: unknown, url: string, signal: AbortSignal): Promise<RemoteIndex>;
  /** Reads the files of the skill in a directory of a repository, at a full commit id. */
  readGit(repository: string, commit: string, directory: string, signal: AbortSignal): Promise<readonly SkillFile[]>;
  /** Ends running programs and removes all files. Idempotent. */
  close(): Promise<void>;
}

const maxMarketplaceBytes = 5 * 1024 * 1024;

/** Opens git repositories as sources. Starts and writes nothing before the first repository. */
export function openGitSource(options: GitSourceOptions): GitSource {
  const { fetcher, clock = systemClock, resolve = sharedResolver, findProgram = findGit } = options;
  const rules = addressRules(options);
  let program: Promise<GitProgram | undefined> | undefined;
  const repositories = new FetchedRepositories({
    fetcher,
    rules,
    resolve,
    program: () => (program ??= findProgram()),
    temporaryDirectory: options.temporaryDirectory ?? tmpdir(),
    limits: { ...gitLimits, ...options.limits },
    clock,
    archiveUrl: options.archiveUrl,
  });
  const readingOf = (signal: AbortSignal): PluginReading => ({ repositories, fetcher, rules, signal });

  return {
    async readIndex(source, { signal, commit: known, etags: followedBefore = {} }) {
      const { url, ref } = source;
      const commit = await repositories.resolve(url, ref, signal);
      if (commit === known && (await areUnmoved(followedBefore, { repositories, signal }))) return "unchanged";
      return await repositories.use(url, commit, signal, async (repository) => {
        const read = await readAll(source, repository, readingOf(signal));
        const { skills, problems } = await describeSkills(read.found);
        return {
          source,
          form: read.form,
          commit,
          skills,
          problems: [...repository.problems, ...read.problems, ...problems],
          etags: read.followed ?? {},
          ...(read.isPartial && { isPartial: true }),
        };
      });
    },
    async readMarketplace(source, json, url, signal) {
      if (!isMarketplace(json)) return { source, form: "marketplace", skills: [], problems: [noMarketplace] };
      const read = await readPlugins(parseMarketplace(json, { url }), undefined, url, readingOf(signal));
      const { skills, problems } = await describeSkills(read.found);
      const all = { source, form: "marketplace", skills, problems: [...read.problems, ...problems] } as const;
      return read.isPartial === true ? { ...all, isPartial: true } : all;
    },
    readGit(repository, commit, directory, signal) {
      return repositories.use(repository, commit, signal, ({ tree }) => readSkillFrom(tree, directory, signal));
    },
    close: () => repositories.close(),
  };
}

const noMarketplace = "The document is not a marketplace: it has no array `plugins`.";

interface AllRead extends PluginsRead {
  readonly form: "marketplace" | "git";
}

/** Reads the plugins of a marketplace; else the repository as one plugin; else all skills in the repository. */
async function readAll(source: Source, { tree, commit }: Repository, reading: PluginReading): Promise<AllRead> {
  const { url, path: start = "" } = source;
  const toContent = (directory: string): RemoteContent => ({ type: "git", repository: url, commit, directory });
  const own: PluginTree = { tree, root: start, toContent };
  const problems: string[] = [];
  const market = await readMarketplaceOf(own, url, reading);
  if (market !== undefined && (market.found.length > 0 || market.isPartial === true))
    return { form: "marketplace", ...market };
  problems.push(...(market?.problems ?? []));
  const single = await readSinglePlugin(own, reading.signal);
  if (single.found.length > 0) return { form: "git", found: single.found, problems: [...problems, ...single.problems] };
  const fallback = nameOf(start === "" ? new URL(url).pathname.replace(/(?:\.git)?\/*$/, "") : start);
  const skills = findSkills(tree, start).map((directory) => ({ directory, fallback, content: toContent(directory) }));
  if (skills.length === 0) problems.push(`There is no SKILL.md${start === "" ? "" : ` in ${JSON.stringify(start)}`}.`);
  return { form: "git", found: await readSkillTexts(tree, skills, reading.signal), problems };
}

async function readMarketplaceOf(
  own: PluginTree,
  url: string,
  reading: PluginReading,
): Promise<PluginsRead | undefined> {
  const paths = marketplacePaths.map((path) => joinTreePath(own.root, path));
  for (const [path, bytes] of await readSmall(own.tree, paths, maxMarketplaceBytes, reading.signal)) {
    const json = parseJsonFile(bytes);
    if (!isMarketplace(json)) continue;
    return await readPlugins(parseMarketplace(json), { ...own, root: rootOfMarketplace(path) }, url, reading);
  }
  return undefined;
}
