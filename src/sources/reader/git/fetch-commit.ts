import { join } from "node:path";
import { watchSize } from "../../../base/paths/directories.ts";
import { SkillsError, type SkillsErrorCode } from "../../../base/errors.ts";
import type { GitRemote } from "./program/git-settings.ts";
import type { Refs } from "./resolve-ref.ts";
import { type GitOutcome, type GitPlace, keyHint, runGit } from "./program/run-git.ts";

/** The name of the bare repository in its home. */
export const repositoryName = "r";
/** git keeps a pack in a few files; more mean that something else happens. */
const mostFiles = 2_000;
const pin = "refs/acp-skills/pin";
const isUnknownCommit = /not our ref|unadvertised object|no such remote ref|couldn't find remote ref/i;

/**
 * Fetches exactly one commit, by its full id and without its history, into a bare repository: no working tree, no submodules, no tags. git
 * checks every object against its id, and hence all bytes against the commit. `refs`: those that the repository advertised, for hosts that
 * give no commit by its id. Throws SOURCE_INVALID if it is not the commit that was asked for.
 */
export async function fetchCommit(
  place: GitPlace,
  remote: GitRemote,
  { commit, refs }: { readonly commit: string; readonly refs: Refs },
  signal: AbortSignal,
): Promise<void> {
  const { label } = remote.url;
  const call = { maxBytes: 64 * 1024, timeoutMs: place.limits.fetchMs };
  const format = commit.length === 64 ? ["--object-format=sha256"] : [];
  const args = ["init", "-q", "--bare", "--template=", ...format, repositoryName];
  let fetched = await runGit(place, { ...call, args }, signal);
  if (fetched.succeeded) fetched = await fetchInto(place, remote, commit, signal);
  if (!fetched.succeeded && isUnknownCommit.test(fetched.stderr)) {
    const [name] = [...refs].find(([ref, id]) => id === commit && !ref.endsWith("^{}")) ?? [];
    if (name !== undefined) fetched = await fetchInto(place, remote, name, signal);
  }
  if (!fetched.succeeded) throw failed(remote, commit, fetched);
  const show = ["-C", repositoryName, "rev-parse", "--verify", "--end-of-options", `${pin}^{commit}`];
  const got = (await runGit(place, { ...call, args: show }, signal)).stdout.toString("latin1").trim();
  if (got === commit) return;
  throw new SkillsError(
    "SOURCE_INVALID",
    `${label} answered with the commit ${got || "of no name"} instead of ${commit}.`,
  );
}

async function fetchInto(place: GitPlace, remote: GitRemote, what: string, signal: AbortSignal): Promise<GitOutcome> {
  const { home, limits, clock } = place;
  const tooLarge = new AbortController();
  const stop = watchSize(join(home, repositoryName), { maxBytes: limits.diskBytes, maxFiles: mostFiles }, clock, () => {
    const message = `${remote.url.label} has more than ${limits.diskBytes} bytes at one commit.`;
    tooLarge.abort(new SkillsError("FILE_TOO_LARGE", message));
  });
  const args = [
    ...["-C", repositoryName, "fetch", "-q", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance"],
    ...["--no-write-fetch-head", "--depth=1", "--refmap=", "--end-of-options", remote.url.url, `${what}:${pin}`],
  ];
  const call = { args, remote, maxBytes: 64 * 1024, timeoutMs: limits.fetchMs };
  return await runGit(place, call, AbortSignal.any([signal, tooLarge.signal])).finally(stop);
}

/** By what git says; anything else is a host that cannot be reached. */
const codes: readonly (readonly [RegExp, SkillsErrorCode])[] = [
  [isUnknownCommit, "SOURCE_INVALID"],
  [/dumb http transport/i, "SOURCE_INVALID"],
  [/attempting to (?:over-?)?allocate/i, "FILE_TOO_LARGE"],
  [/fsck|index-pack|invalid|corrupt|bad object|missing/i, "SOURCE_INVALID"],
];

function failed({ url: { label, scheme } }: GitRemote, commit: string, { stderr }: GitOutcome): SkillsError {
  const isRefused = scheme === "ssh" && /permission denied|host key/i.test(stderr);
  const [, code = isRefused ? "AUTH_REQUIRED" : "ENDPOINT_UNREACHABLE"] =
    codes.find(([said]) => said.test(stderr)) ?? [];
  const hint = isRefused ? keyHint : "Check the URL, and that this machine reaches it.";
  const message = `The commit ${commit} of ${label} cannot be fetched: git said: ${stderr || "nothing"}.`;
  return new SkillsError(code, message, { facts: { hint } });
}
