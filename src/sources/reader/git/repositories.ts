import { rm } from "node:fs/promises";
import type { Clock } from "../../../base/clock.ts";
import { makeTemporary, sweepTemporaryDirectories } from "../../../base/processes/temporary-directory.ts";
import { unlessAborted } from "../../../base/promises.ts";
import { SkillsError } from "../../../base/errors.ts";
import type { Fetcher } from "../../fetch.ts";
import type { FileTree } from "../trees/file-tree.ts";
import { fetchCommit, readGitTree } from "./git-tree.ts";
import { type GitLimits, type GitUrl, isCommit, parseGitUrl } from "../git.ts";
import type { GitClient, GitProgram, GitRemote } from "./program/run-git.ts";
import { gitHint, readTarball } from "./read-tarball.ts";
import { type Advertised, findCommit, listRefs, readRefs } from "./resolve-ref.ts";
import type { Resolve } from "../../../base/network/reach.ts";
import type { AddressRules } from "../../fetch/address-rules.ts";

export interface FetchedRepositoriesOptions {
  readonly fetcher: Fetcher;
  /** The rules for hosts and their addresses: the same as for every other connection. */
  readonly rules: AddressRules;
  readonly resolve: Resolve;
  /** Returns the git of this machine, if it has one. */
  readonly program: () => Promise<GitProgram | undefined>;
  readonly temporaryDirectory: string;
  /** Returns the URL of an archive. Default: the URL that hosts of this name use. */
  readonly archiveUrl: ((url: GitUrl, commit: string) => string) | undefined;
  readonly limits: GitLimits;
  readonly clock: Clock;
}

/** A commit of a repository, and its files. */
export interface Repository {
  readonly commit: string;
  readonly tree: FileTree;
  readonly problems: readonly string[];
}

interface CachedRepository {
  readonly repository: Promise<Repository>;
  readonly abort: AbortController;
  home: string | undefined;
  isOpen: boolean;
  users: number;
}

/** A cache of fetched repositories: each commit is fetched once until it is evicted or the cache is closed. */
export class FetchedRepositories {
  readonly #options: FetchedRepositoriesOptions;
  readonly #cached = new Map<string, CachedRepository>();
  #isClosed = false;
  #isSwept = false;

  constructor(options: FetchedRepositoriesOptions) {
    this.#options = options;
  }

  /** Returns the commit that a branch, a tag or HEAD names now. */
  async resolve(repository: string, ref: string | undefined, signal: AbortSignal): Promise<string> {
    if (ref !== undefined && isCommit(ref)) return ref;
    const url = parseGitUrl(repository);
    const { refs } = await this.#advertised(url, ref, signal);
    return findCommit(refs, ref, url.label);
  }

  /** Calls `use` with a repository at a full commit id. The tree of the repository must not be used afterwards. */
  async use<Result>(
    repository: string,
    commit: string,
    signal: AbortSignal,
    use: (repository: Repository) => Promise<Result>,
  ): Promise<Result> {
    if (!isCommit(commit))
      throw new SkillsError("SOURCE_INVALID", `${JSON.stringify(commit)} is not a full commit id.`);
    signal.throwIfAborted();
    const url = parseGitUrl(repository);
    const cached = this.#cache(url, commit);
    cached.users += 1;
    try {
      return await use(await unlessAborted(cached.repository, signal));
    } finally {
      cached.users -= 1;
      if (signal.aborted && cached.users === 0 && !cached.isOpen) cached.abort.abort(signal.reason);
      await this.#evict(this.#options.limits.cached);
    }
  }

  /** Aborts running work and removes everything from disk. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { abort } of this.#cached.values()) abort.abort(closed());
    await this.#evict(0, true);
  }

  #cache(url: GitUrl, commit: string): CachedRepository {
    if (this.#isClosed) throw closed();
    const key = `${url.url}\n${commit}`;
    const known = this.#cached.get(key);
    if (known !== undefined && !known.abort.signal.aborted) {
      this.#cached.delete(key);
      this.#cached.set(key, known);
      return known;
    }
    const abort = new AbortController();
    const cached: CachedRepository = {
      abort,
      home: undefined,
      isOpen: false,
      users: 0,
      repository: this.#open(url, commit, abort.signal, (home) => (cached.home = home)),
    };
    cached.repository.then(
      () => (cached.isOpen = true),
      // A repository that failed is opened again the next time.
      () => {
        if (this.#cached.get(key) === cached) this.#cached.delete(key);
      },
    );
    this.#cached.set(key, cached);
    return cached;
  }

  async #open(url: GitUrl, commit: string, signal: AbortSignal, prepare: (home: string) => void): Promise<Repository> {
    const program = await this.#options.program();
    if (program === undefined && url.scheme !== "ssh")
      return { commit, ...(await readTarball(url, commit, this.#options, signal)) };
    const { url: from, refs } = await this.#advertised(url, commit, signal);
    const remote = await pinRemote({ ...parseGitUrl(from), label: url.label }, this.#options, signal);
    if (!this.#isSwept) sweepTemporaryDirectories(this.#options.temporaryDirectory, "git");
    this.#isSwept = true;
    const git = await this.#makeHome(url);
    prepare(git.home);
    try {
      await fetchCommit(git, remote, { commit, refs }, signal);
      return { commit, tree: await readGitTree(git, { commit, label: url.label }, signal), problems: [] };
    } catch (error) {
      await rm(git.home, { recursive: true, force: true });
      throw error;
    }
  }

  async #advertised(url: GitUrl, ref: string | undefined, signal: AbortSignal): Promise<Advertised> {
    if (url.scheme !== "ssh") return await readRefs(url, ref, this.#options.fetcher, signal);
    const remote = await pinRemote(url, this.#options, signal);
    const git = await this.#makeHome(url);
    const refs = listRefs(git, remote, signal).finally(() => rm(git.home, { recursive: true, force: true }));
    return { url: url.url, refs: await refs };
  }

  async #makeHome({ label }: GitUrl): Promise<GitClient> {
    const { program: find, temporaryDirectory, limits, clock } = this.#options;
    const program = await find();
    if (program !== undefined) return { program, home: makeTemporary(temporaryDirectory, "git"), limits, clock };
    const message = `${label} can be read with git only, and this machine has none.`;
    throw new SkillsError("SOURCE_INVALID", message, { facts: { hint: gitHint } });
  }

  /** Removes unused repositories, the least recently used first, until at most `maxRepositories` are left; with `all`, used ones too. */
  async #evict(maxRepositories: number, all = false): Promise<void> {
    for (const [key, cached] of this.#cached) {
      if (this.#cached.size <= maxRepositories) return;
      if (cached.users > 0 && !all) continue;
      this.#cached.delete(key);
      // The callers of the repository have received the failure.
      await cached.repository.catch(() => undefined);
      if (cached.home !== undefined) await rm(cached.home, { recursive: true, force: true });
    }
  }
}

function closed(): SkillsError {
  return new SkillsError("CLOSED", "The sources are closed.");
}

const maxAddresses = 8;

/** Looks up the host of a repository and checks its addresses; git then connects only to these. Throws ENDPOINT_UNREACHABLE. */
async function pinRemote(
  url: GitUrl,
  { rules, resolve }: Pick<FetchedRepositoriesOptions, "rules" | "resolve">,
  signal: AbortSignal,
): Promise<GitRemote> {
  const { scheme, host, port } = url;
  // ssh has the rules of https.
  const target = rules.targetOf(new URL(`${scheme === "http" ? "http" : "https"}://${host.text}:${port}/`));
  const found = host.address === undefined ? resolve(host.text, signal) : Promise.resolve([host.address]);
  const addresses = await unlessAborted(found, signal).catch(() => []);
  signal.throwIfAborted();
  const why = addresses.length === 0 ? `${host.text} cannot be resolved` : rules.judge(target, addresses);
  if (why !== undefined) throw new SkillsError("ENDPOINT_UNREACHABLE", `${why}.`);
  return { url, addresses: addresses.slice(0, maxAddresses) };
}
