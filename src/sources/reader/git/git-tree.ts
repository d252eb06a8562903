import { isUtf8 } from "node:buffer";
import { join } from "node:path";
import { type Steps, runInSlices } from "../../../base/promises.ts";
import { type SkillsErrorCode, SkillsError } from "../../../base/errors.ts";
import { remotePathFault } from "../../archive/check-path.ts";
import type { FileTree, TreeFile } from "../trees/file-tree.ts";
import { type GitOutcome, type GitClient, type GitRemote, keyHint, runGit } from "./program/run-git.ts";
import { watchSize } from "../../../base/paths/directories.ts";
import type { Refs } from "./resolve-ref.ts";

interface Listed extends TreeFile {
  readonly id: string;
}

/**
 * Reads the files of a commit as they are stored: `ls-tree` and `cat-file` apply no attribute, filter or line ending. The list is checked
 * against all limits before any content is read.
 */
export async function readGitTree(
  git: GitClient,
  { commit, label }: { readonly commit: string; readonly label: string },
  signal: AbortSignal,
): Promise<FileTree> {
  const { limits } = git;
  const call = async (args: readonly string[], maxBytes: number, reading: AbortSignal, input = ""): Promise<Buffer> => {
    const all = { args: ["-C", repositoryName, ...args], input, maxBytes, timeoutMs: limits.readMs };
    const { succeeded, stdout, stderr } = await runGit(git, all, reading);
    if (succeeded) return stdout;
    throw new SkillsError("SOURCE_INVALID", `${label} cannot be read: git said: ${stderr}.`);
  };
  const list = await call(["ls-tree", "-r", "-z", "--long", "--full-tree", commit], limits.listBytes, signal);
  const { files, refused } = await runInSlices(parseList(list, limits.files, label));
  return {
    files,
    refused,
    async read(paths, reading) {
      const wanted = paths.flatMap((path) => files.get(path) ?? []);
      const bytes = wanted.reduce((sum, { size }) => sum + size, 0);
      if (bytes > limits.readBytes)
        throw new SkillsError("FILE_TOO_LARGE", `${label} has more than ${limits.readBytes} bytes to read at once.`);
      const ids = [...new Set(wanted.map(({ id }) => id))];
      if (ids.length === 0) return new Map();
      const input = ids.map((id) => `${id}\n`).join("");
      const printed = await call(["cat-file", "--batch", "--buffer"], bytes + ids.length * 128, reading, input);
      const contents = parseContents(printed, ids.length, label);
      return new Map(
        paths.flatMap((path) => {
          const content = contents.get(files.get(path)?.id ?? "");
          return content === undefined ? [] : [[path, content] as const];
        }),
      );
    },
  };
}

const entry = /^(\d{6}) ([a-z]+) ([0-9a-f]{40}|[0-9a-f]{64}) +(\d+|-)$/;

function* parseList(
  list: Buffer,
  maxFiles: number,
  label: string,
): Steps<{ readonly files: ReadonlyMap<string, Listed>; readonly refused: FileTree["refused"] }> {
  const files = new Map<string, Listed>();
  const refused: { path: string; why: string }[] = [];
  for (let at = 0; at < list.length;) {
    yield undefined;
    const end = list.indexOf(0, at);
    const tab = list.indexOf(9, at);
    const [, mode, type, id = "", size] = entry.exec(list.toString("latin1", at, Math.max(at, tab))) ?? [];
    if (end === -1 || tab === -1 || tab > end || type === undefined)
      throw new SkillsError("SOURCE_INVALID", `${label} has a list of files that cannot be read.`);
    const name = list.subarray(tab + 1, end);
    at = end + 1;
    // Submodules are other repositories.
    if (type !== "blob") continue;
    if (files.size + refused.length >= maxFiles)
      throw new SkillsError("FILE_TOO_LARGE", `${label} has more than ${maxFiles} files; name a smaller repository.`);
    const path = isUtf8(name) ? name.toString("utf8") : undefined;
    const why = path === undefined ? "is not UTF-8" : remotePathFault(path);
    if (path === undefined || why !== undefined) {
      refused.push({ path: path ?? name.toString("latin1"), why: why ?? "" });
      continue;
    }
    files.set(path, { size: Number(size), executable: mode === "100755", isLink: mode === "120000", id });
  }
  return { files, refused };
}

/** Parses the objects that `cat-file` prints, each as `ID blob SIZE`, a line end, the bytes and a line end. */
function parseContents(printed: Buffer, count: number, label: string): ReadonlyMap<string, Uint8Array> {
  const contents = new Map<string, Uint8Array>();
  for (let at = 0; at < printed.length;) {
    const end = printed.indexOf(10, at);
    const [, id, size] = /^([0-9a-f]+) blob (\d+)$/.exec(printed.toString("latin1", at, Math.max(at, end))) ?? [];
    const start = end + 1;
    const after = start + Number(size);
    if (id === undefined || after >= printed.length) break;
    contents.set(id, printed.subarray(start, after));
    at = after + 1;
  }
  if (contents.size === count) return contents;
  throw new SkillsError("SOURCE_INVALID", `${label} has files without content.`);
}

/** The name of the bare repository in the home directory of a `GitClient`. */
const repositoryName = "r";
/** The maximum number of files during a fetch. git stores a pack in a few; more mean that something else happens. */
const maxPacked = 2_000;
const pin = "refs/acp-skills/pin";
const isUnknownCommit = /not our ref|unadvertised object|no such remote ref|couldn't find remote ref/i;

/**
 * Fetches exactly one commit by its full id, without its history, into a bare repository: no working tree, no submodules, no tags. git
 * checks every object against its id, and hence all bytes against the commit. `refs`: the advertised refs, for hosts that give no commit
 * by its id. Throws SOURCE_INVALID if another commit than the requested one arrives.
 */
export async function fetchCommit(
  git: GitClient,
  remote: GitRemote,
  { commit, refs }: { readonly commit: string; readonly refs: Refs },
  signal: AbortSignal,
): Promise<void> {
  const { label } = remote.url;
  const call = { maxBytes: 64 * 1024, timeoutMs: git.limits.fetchMs };
  const format = commit.length === 64 ? ["--object-format=sha256"] : [];
  const args = ["init", "-q", "--bare", "--template=", ...format, repositoryName];
  let fetched = await runGit(git, { ...call, args }, signal);
  if (fetched.succeeded) fetched = await fetchInto(git, remote, commit, signal);
  if (!fetched.succeeded && isUnknownCommit.test(fetched.stderr)) {
    const [name] = [...refs].find(([ref, id]) => id === commit && !ref.endsWith("^{}")) ?? [];
    if (name !== undefined) fetched = await fetchInto(git, remote, name, signal);
  }
  if (!fetched.succeeded) throw failed(remote, commit, fetched);
  const show = ["-C", repositoryName, "rev-parse", "--verify", "--end-of-options", `${pin}^{commit}`];
  const got = (await runGit(git, { ...call, args: show }, signal)).stdout.toString("latin1").trim();
  if (got === commit) return;
  const message = `${label} answered with the commit ${got || "of no name"} instead of ${commit}.`;
  throw new SkillsError("SOURCE_INVALID", message);
}

async function fetchInto(git: GitClient, remote: GitRemote, what: string, signal: AbortSignal): Promise<GitOutcome> {
  const { home, limits, clock } = git;
  const tooLarge = new AbortController();
  const stop = watchSize(join(home, repositoryName), { maxBytes: limits.diskBytes, maxFiles: maxPacked }, clock, () => {
    const message = `${remote.url.label} has more than ${limits.diskBytes} bytes at one commit.`;
    tooLarge.abort(new SkillsError("FILE_TOO_LARGE", message));
  });
  const args = [
    ...["-C", repositoryName, "fetch", "-q", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance"],
    ...["--no-write-fetch-head", "--depth=1", "--refmap=", "--end-of-options", remote.url.url, `${what}:${pin}`],
  ];
  const call = { args, remote, maxBytes: 64 * 1024, timeoutMs: limits.fetchMs };
  return await runGit(git, call, AbortSignal.any([signal, tooLarge.signal])).finally(stop);
}

/** The error codes by the words of git; all other errors mean that the host cannot be reached. */
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
