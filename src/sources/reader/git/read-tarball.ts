import { SkillsError } from "../../../base/errors.ts";
import { readArchive } from "../../archive/read-archive.ts";
import type { Fetcher } from "../../fetch.ts";
import { type FileTree, archiveTree } from "../trees/file-tree.ts";
import type { GitLimits, GitUrl } from "../git.ts";

export interface TarballOptions {
  readonly fetcher: Fetcher;
  readonly limits: GitLimits;
  readonly signal: AbortSignal;
  /** Default: where hosts of this name have archives. */
  readonly archiveUrl?: (url: GitUrl, commit: string) => string;
}

/** A tree that a host packed, and what that may have changed. */
export interface Tarball {
  readonly tree: FileTree;
  readonly problems: readonly string[];
}

/**
 * Reads a commit without git, from the archive that hosts make of it. The commit that the archive names is compared, but only git can
 * prove it. Throws SOURCE_INVALID for another commit.
 */
export async function readTarball(url: GitUrl, commit: string, options: TarballOptions): Promise<Tarball> {
  const { fetcher, limits, signal, archiveUrl = toArchiveUrl } = options;
  const answer = await fetcher.fetch(
    { url: archiveUrl(url, commit), maxBytes: limits.packedBytes, timeoutMs: limits.fetchMs },
    signal,
  );
  if (answer.status !== 200) throw noArchive(url, answer.status);
  const archive = await readArchive(
    answer.body,
    {
      stripTop: true,
      links: "list",
      unusable: "list",
      limits: {
        files: limits.files,
        entries: 2 * limits.files,
        bytes: limits.unpackedBytes,
        unpacked: limits.unpackedBytes + limits.files * 1_024,
      },
    },
    signal,
  );
  if (archive.commit !== commit) {
    const message = `The archive of ${url.label} is of ${archive.commit ?? "an unnamed commit"} instead of ${commit}.`;
    throw new SkillsError("SOURCE_INVALID", message);
  }
  const problems: string[] = [];
  if (archive.files.some(({ path, bytes }) => isAttributes(path) && changesArchives(bytes)))
    problems.push(
      "Its .gitattributes leave files out of archives or change them; with git on this machine all are read.",
    );
  return { tree: archiveTree(archive), problems };
}

/** GitHub, GitLab, or Gitea and Forgejo, which GitHub Enterprise resembles. */
export function toArchiveUrl({ url, host }: GitUrl, commit: string): string {
  const { pathname, origin } = new URL(url);
  const path = pathname.replace(/\/+$/, "").replace(/\.git$/, "");
  if (host.text === "github.com") return `https://codeload.github.com${path}/tar.gz/${commit}`;
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (/(?:^|\.)gitlab\./.test(host.text)) return `${origin}${path}/-/archive/${commit}/${name}-${commit}.tar.gz`;
  return `${origin}${path}/archive/${commit}.tar.gz`;
}

function noArchive({ label }: GitUrl, status: number): SkillsError {
  const facts = { hint: "Install git 2.37 or later: with it, every repository can be read." };
  if (status === 429) return new SkillsError("RATE_LIMITED", `The host of ${label} wants fewer requests (429).`);
  const code = status >= 500 ? "ENDPOINT_UNREACHABLE" : "SOURCE_INVALID";
  return new SkillsError(code, `There is no archive of ${label}: the host answered ${status}.`, { facts });
}

function isAttributes(path: string): boolean {
  return path === ".gitattributes" || path.endsWith("/.gitattributes");
}

function changesArchives(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.subarray(0, 64 * 1_024)).toString("utf8");
  return /^[^#\n]*\s(?:export-ignore|export-subst|ident|eol=crlf|working-tree-encoding=)/m.test(text);
}
