import { SkillsError } from "../../../base/errors.ts";
import { readArchive } from "../../archive/read-archive.ts";
import { type FileTree, archiveTree } from "../trees/file-tree.ts";
import type { GitUrl } from "../git.ts";
import type { FetchedRepositoriesOptions } from "./repositories.ts";

/** A tree that a host packed, and the problems that this may have caused. */
export interface Tarball {
  readonly tree: FileTree;
  readonly problems: readonly string[];
}

/**
 * Reads a commit without git, from the archive that its host makes. The commit that the archive names must be the requested one, but only
 * git can prove it. Throws SOURCE_INVALID for another commit.
 */
export async function readTarball(
  url: GitUrl,
  commit: string,
  { fetcher, limits, archiveUrl = toArchiveUrl }: Pick<FetchedRepositoriesOptions, "fetcher" | "limits" | "archiveUrl">,
  signal: AbortSignal,
): Promise<Tarball> {
  const request = { url: archiveUrl(url, commit), maxBytes: limits.packedBytes, timeoutMs: limits.fetchMs };
  const { status, body } = await fetcher.fetch(request, signal);
  if (status !== 200) {
    const code = status === 429 ? "RATE_LIMITED" : status >= 500 ? "ENDPOINT_UNREACHABLE" : "SOURCE_INVALID";
    const message = `There is no archive of ${url.label}: the host answered ${status}.`;
    throw new SkillsError(code, message, { facts: { hint: gitHint } });
  }
  const archive = await readArchive(
    body,
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
  const isChanged = archive.files.some(
    ({ path, bytes }) => /(?:^|\/)\.gitattributes$/.test(path) && changesArchives(bytes),
  );
  const problem =
    "Its .gitattributes leave files out of archives or change them; with git on this machine all are read.";
  return { tree: archiveTree(archive), problems: isChanged ? [problem] : [] };
}

/** The advice for a repository that cannot be read without git. */
export const gitHint = "Install git 2.37 or later: with it, every repository can be read.";

/** Returns the URL of an archive at GitHub, GitLab, or Gitea and Forgejo, which GitHub Enterprise resembles. */
export function toArchiveUrl({ url, host }: GitUrl, commit: string): string {
  const { pathname, origin } = new URL(url);
  const path = pathname.replace(/\/+$/, "").replace(/\.git$/, "");
  if (host.text === "github.com") return `https://codeload.github.com${path}/tar.gz/${commit}`;
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (/(?:^|\.)gitlab\./.test(host.text)) return `${origin}${path}/-/archive/${commit}/${name}-${commit}.tar.gz`;
  return `${origin}${path}/archive/${commit}.tar.gz`;
}

function changesArchives(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.subarray(0, 64 * 1_024)).toString("utf8");
  return /^[^#\n]*\s(?:export-ignore|export-subst|ident|eol=crlf|working-tree-encoding=)/m.test(text);
}
