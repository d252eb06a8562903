import type { Clock } from "../../../base/clock.ts";
import { type Steps, runInSlices } from "../../../base/promises.ts";
import { SkillsError } from "../../../base/errors.ts";
import { remotePathFault } from "../../archive/check-path.ts";
import type { FileTree, TreeFile } from "../trees/file-tree.ts";
import { repositoryName } from "./fetch-commit.ts";
import type { GitLimits } from "../git.ts";
import type { GitProgram } from "./program/git-settings.ts";
import { runGit } from "./program/run-git.ts";

export interface FetchedCommit {
  readonly program: GitProgram;
  readonly commit: string;
  /** Where `fetchCommit` has put it. */
  readonly home: string;
  /** For people. */
  readonly label: string;
  readonly limits: GitLimits;
  readonly clock: Clock;
}

interface Listed extends TreeFile {
  readonly id: string;
}

/**
 * The files of a commit as they are stored: `ls-tree` and `cat-file` apply no attribute, filter or line ending. All limits are checked on
 * the list, before any content.
 */
export async function readGitTree(fetched: FetchedCommit, signal: AbortSignal): Promise<FileTree> {
  const { commit, limits, label } = fetched;
  const list = await call(
    fetched,
    ["ls-tree", "-r", "-z", "--long", "--full-tree", commit],
    "",
    signal,
    limits.listBytes,
  );
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
      const input = ids.map((id) => `${id}\n`).join("");
      const most = bytes + ids.length * 128;
      const printed =
        ids.length === 0
          ? Buffer.alloc(0)
          : await call(fetched, ["cat-file", "--batch", "--buffer"], input, reading, most);
      const contents = parseContents(printed, ids.length, label);
      return new Map(
        paths.flatMap((path) => {
          const file = files.get(path);
          const content = file === undefined ? undefined : contents.get(file.id);
          return content === undefined ? [] : [[path, content] as const];
        }),
      );
    },
  };
}

async function call(
  { program, home, limits, clock, label }: FetchedCommit,
  args: readonly string[],
  input: string,
  signal: AbortSignal,
  maxBytes: number,
): Promise<Buffer> {
  const all = ["-C", repositoryName, ...args];
  const outcome = await runGit(program, { args: all, home, input, maxBytes, timeoutMs: limits.readMs, clock, signal });
  if (outcome.succeeded) return outcome.stdout;
  throw new SkillsError("SOURCE_INVALID", `${label} cannot be read: git said: ${outcome.stderr}.`);
}

const entry = /^(\d{6}) ([a-z]+) ([0-9a-f]{40}|[0-9a-f]{64}) +(\d+|-)$/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function* parseList(
  list: Buffer,
  mostFiles: number,
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
    if (files.size + refused.length >= mostFiles)
      throw new SkillsError("FILE_TOO_LARGE", `${label} has more than ${mostFiles} files; name a smaller repository.`);
    const path = decoded(name);
    const why = path === undefined ? "is not UTF-8" : remotePathFault(path);
    if (path === undefined || why !== undefined) {
      refused.push({ path: path ?? name.toString("latin1"), why: why ?? "is not UTF-8" });
      continue;
    }
    files.set(path, { size: Number(size), executable: mode === "100755", isLink: mode === "120000", id });
  }
  return { files, refused };
}

function decoded(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Reads `ID blob SIZE`, a line end, the bytes, a line end, of each object. */
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
