import { join } from "node:path";
import type { Clock } from "../../../base/clock.ts";
import { watchSize } from "../../../base/paths/directories.ts";
import { SkillsError } from "../../../base/errors.ts";
import type { GitLimits } from "../git.ts";
import type { GitProgram, GitRemote } from "./program/git-settings.ts";
import type { Refs } from "./resolve-ref.ts";
import { type GitOutcome, runGit } from "./program/run-git.ts";

export interface FetchCommitOptions {
  readonly program: GitProgram;
  readonly remote: GitRemote;
  /** A full commit id. */
  readonly commit: string;
  /** The refs that the repository advertised, for hosts that give no commit by its id. */
  readonly refs: Refs;
  /** An own, empty directory. */
  readonly home: string;
  readonly limits: GitLimits;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The name of the bare repository in its home. */
export const repositoryName = "r";
/** git keeps a pack in a few files; more mean that something else happens. */
const mostFiles = 2_000;
const pin = "refs/acp-skills/pin";
const isUnknownCommit = /not our ref|unadvertised object|no such remote ref|couldn't find remote ref/i;

/**
 * Fetches exactly one commit, without its history, into a bare repository: no working tree, no submodules, no tags. git checks every
 * object against its id, and hence all bytes against the commit. Throws SOURCE_INVALID if it is not the commit that was asked for.
 */
export async function fetchCommit(options: FetchCommitOptions): Promise<void> {
  const { commit, refs, remote } = options;
  const format = commit.length === 64 ? ["--object-format=sha256"] : [];
  const made = await call(options, ["init", "-q", "--bare", "--template=", ...format, repositoryName]);
  if (!made.succeeded) throw failed(options, made);
  let fetched = await fetchInto(options, commit);
  if (!fetched.succeeded && isUnknownCommit.test(fetched.stderr)) {
    const [name] = [...refs].find(([ref, id]) => id === commit && !ref.endsWith("^{}")) ?? [];
    if (name !== undefined) fetched = await fetchInto(options, name);
  }
  if (!fetched.succeeded) throw failed(options, fetched);
  const { stdout } = await call(options, [
    ...["-C", repositoryName, "rev-parse", "--verify", "--end-of-options"],
    `${pin}^{commit}`,
  ]);
  const got = stdout.toString("latin1").trim();
  if (got === commit) return;
  const message = `${remote.url.label} answered with the commit ${got || "of no name"} instead of ${commit}.`;
  throw new SkillsError("SOURCE_INVALID", message);
}

async function fetchInto(options: FetchCommitOptions, what: string): Promise<GitOutcome> {
  const { home, remote, limits, clock, signal } = options;
  const tooLarge = new AbortController();
  const limit = { maxBytes: limits.diskBytes, maxFiles: mostFiles };
  const stop = watchSize(join(home, repositoryName), limit, clock, () => {
    const message = `${remote.url.label} has more than ${limits.diskBytes} bytes at one commit.`;
    tooLarge.abort(new SkillsError("FILE_TOO_LARGE", message));
  });
  try {
    return await call({ ...options, signal: AbortSignal.any([signal, tooLarge.signal]) }, [
      ...["-C", repositoryName, "fetch", "-q", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance"],
      ...["--no-write-fetch-head", "--depth=1", "--refmap=", "--end-of-options", remote.url.url, `${what}:${pin}`],
    ]);
  } finally {
    stop();
  }
}

async function call(
  { program, remote, home, limits, clock, signal }: FetchCommitOptions,
  args: readonly string[],
): Promise<GitOutcome> {
  const isRemote = args.includes("fetch");
  return await runGit(program, {
    args,
    home,
    ...(isRemote && { remote }),
    maxBytes: 64 * 1024,
    timeoutMs: limits.fetchMs,
    clock,
    signal,
  });
}

function failed({ remote, commit }: FetchCommitOptions, { stderr }: GitOutcome): SkillsError {
  const { label, scheme } = remote.url;
  const said = stderr === "" ? "git said nothing" : `git said: ${stderr}`;
  if (isUnknownCommit.test(stderr)) {
    const message = `${label} does not have the commit ${commit}, or does not give it by its id (${said}).`;
    return new SkillsError("SOURCE_INVALID", message);
  }
  if (/^dumb|dumb http transport/i.test(stderr)) {
    const message = `The host of ${label} serves files only, without git's protocol; commits cannot be fetched there.`;
    return new SkillsError("SOURCE_INVALID", message);
  }
  if (/attempting to (?:over-?)?allocate/i.test(stderr)) {
    const message = `${label} has an object too large to be checked: ${said}.`;
    return new SkillsError("FILE_TOO_LARGE", message);
  }
  if (/fsck|index-pack|invalid|corrupt|bad object|missing/i.test(stderr)) {
    return new SkillsError("SOURCE_INVALID", `${label} cannot be used: ${said}.`);
  }
  const isRefused = scheme === "ssh" && /permission denied|host key/i.test(stderr);
  const hint = isRefused
    ? "Check that `ssh -o BatchMode=yes` reaches this host with your key, and that its host key is known."
    : "Check the URL, and that this machine reaches it.";
  const code = isRefused ? "AUTH_REQUIRED" : "ENDPOINT_UNREACHABLE";
  return new SkillsError(code, `${label} cannot be fetched: ${said}.`, { facts: { hint } });
}
