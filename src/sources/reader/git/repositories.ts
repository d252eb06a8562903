import { rm } from "node:fs/promises";
import type { Clock } from "../../../base/clock.ts";
import { makeTemporary, sweepTemporaryDirectories } from "../../../base/processes/temporary-directory.ts";
import { unlessAborted } from "../../../base/promises.ts";
import { SkillsError } from "../../../base/errors.ts";
import type { Fetcher } from "../../fetch.ts";
import type { FileTree } from "../trees/file-tree.ts";
import { fetchCommit } from "./fetch-commit.ts";
import { type GitLimits, type GitUrl, isCommit, parseGitUrl } from "../git.ts";
import type { GitProgram, GitRemote } from "./program/git-settings.ts";
import { readGitTree } from "./git-tree.ts";
import { readTarball } from "./read-tarball.ts";
import { type Advertised, findCommit, listRefs, readRefs } from "./resolve-ref.ts";
import type { Resolve } from "../../../base/network/reach.ts";
import type { AddressRules } from "../../fetch/address-rules.ts";

export interface FetchedRepositoriesOptions {
  readonly fetcher: Fetcher;
  readonly network: NetworkChecks;
  /** The git of this machine, if it has one. */
  readonly program: () => Promise<GitProgram | undefined>;
  readonly temporaryDirectory: string;
  readonly archiveUrl?: (url: GitUrl, commit: string) => string;
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

/** Repositories that were fetched, each commit once, until they are closed. */
export class FetchedRepositories {
  readonly #options: FetchedRepositoriesOptions;
  readonly #cached = new Map<string, CachedRepository>();
  #isClosed = false;
  #isSwept = false;

  constructor(options: FetchedRepositoriesOptions) {
    this.#options = options;
  }

  /** The commit that a branch, a tag or HEAD names now. */
  async resolve(repository: string, ref: string | undefined, signal: AbortSignal): Promise<string> {
    if (ref !== undefined && isCommit(ref)) return ref;
    const url = parseGitUrl(repository);
    const { refs } = await this.#advertised(url, ref, signal);
    return findCommit(refs, ref, url.label);
  }

  /** Calls `use` with a repository at a full commit id. Its tree is of no use afterwards. */
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

  /** Ends what runs and removes everything from disk. Idempotent. */
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
      // What failed is tried again the next time.
      () => {
        if (this.#cached.get(key) === cached) this.#cached.delete(key);
      },
    );
    this.#cached.set(key, cached);
    return cached;
  }

  async #open(url: GitUrl, commit: string, signal: AbortSignal, place: (home: string) => void): Promise<Repository> {
    const { program: find, fetcher, limits, clock, temporaryDirectory, network, archiveUrl } = this.#options;
    const program = await find();
    if (program === undefined) {
      if (url.scheme === "ssh") throw noGit(url);
      const options = { fetcher, limits, signal, ...(archiveUrl !== undefined && { archiveUrl }) };
      return { commit, ...(await readTarball(url, commit, options)) };
    }
    const advertised = await this.#advertised(url, commit, signal);
    const remote = await pinRemote({ ...parseGitUrl(advertised.url), label: url.label }, network, signal);
    if (!this.#isSwept) sweepTemporaryDirectories(temporaryDirectory, "git");
    this.#isSwept = true;
    const home = makeTemporary(temporaryDirectory, "git");
    place(home);
    try {
      await fetchCommit({ program, remote, commit, refs: advertised.refs, home, limits, clock, signal });
      const fetched = { program, commit, home, label: url.label, limits, clock };
      return { commit, tree: await readGitTree(fetched, signal), problems: [] };
    } catch (error) {
      await rm(home, { recursive: true, force: true });
      throw error;
    }
  }

  async #advertised(url: GitUrl, ref: string | undefined, signal: AbortSignal): Promise<Advertised> {
    const { fetcher, network, program: find, limits, clock, temporaryDirectory } = this.#options;
    if (url.scheme !== "ssh") return await readRefs(url, ref, fetcher, signal);
    const program = await find();
    if (program === undefined) throw noGit(url);
    const remote = await pinRemote(url, network, signal);
    const home = makeTemporary(temporaryDirectory, "git");
    try {
      return { url: url.url, refs: await listRefs({ program, remote, home, limits, clock, signal }) };
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  }

  /** Removes those that nobody uses, the least recently used first, until at most so many are left. */
  async #evict(most: number, all = false): Promise<void> {
    for (const [key, cached] of this.#cached) {
      if (this.#cached.size <= most) return;
      if (cached.users > 0 && !all) continue;
      this.#cached.delete(key);
      // Its callers have received the failure.
      await cached.repository.catch(() => undefined);
      if (cached.home !== undefined) await rm(cached.home, { recursive: true, force: true });
    }
  }
}

function closed(): SkillsError {
  return new SkillsError("CLOSED", "The sources are closed.");
}

function noGit({ label }: GitUrl): SkillsError {
  const facts = { hint: "Install git 2.37 or later." };
  return new SkillsError("SOURCE_INVALID", `${label} can be read with git only, and this machine has none.`, { facts });
}

/** How hosts are looked up and judged: the same as for every other connection. */
interface NetworkChecks {
  readonly rules: AddressRules;
  readonly resolve: Resolve;
}

const mostAddresses = 8;

/** Looks up the host of a repository, and checks its addresses; git then connects to these only. Throws ENDPOINT_UNREACHABLE. */
async function pinRemote(url: GitUrl, { rules, resolve }: NetworkChecks, signal: AbortSignal): Promise<GitRemote> {
  // For ssh the rules are those of https.
  const scheme = url.scheme === "http" ? "http" : "https";
  const target = rules.targetOf(new URL(`${scheme}://${url.host.text}:${url.port}/`));
  const addresses = url.host.address === undefined ? await lookUp(url.host.text, resolve, signal) : [url.host.address];
  const why = rules.judge(target, addresses);
  if (why !== undefined) throw new SkillsError("ENDPOINT_UNREACHABLE", `${why}.`);
  return { url, addresses: addresses.slice(0, mostAddresses) };
}

async function lookUp(host: string, resolve: Resolve, signal: AbortSignal): Promise<readonly string[]> {
  let addresses: readonly string[] = [];
  let cause: unknown;
  try {
    addresses = await unlessAborted(resolve(host, signal), signal);
  } catch (error) {
    signal.throwIfAborted();
    cause = error;
  }
  if (addresses.length > 0) return addresses;
  throw new SkillsError("ENDPOINT_UNREACHABLE", `${host} cannot be resolved.`, { cause });
}
