import { hashInSlices } from "../../base/text/hash-in-slices.ts";
import { inParallel } from "../../base/promises.ts";
import { SkillsError } from "../../base/errors.ts";
import { digestForm } from "../../base/text/content.ts";
import { badArchive } from "../archive/archive-content.ts";
import { checkCollisions, checkPath } from "../archive/check-path.ts";
import { readArchive } from "../archive/read-archive.ts";
import type { Fetcher } from "../fetch.ts";
import { compressed, isCompressed, requireSuccess } from "../fetch/read-answer.ts";
import { skillLimits } from "../source.ts";
import type { GitSource } from "./git/git-source.ts";
import type { RemoteContent, SkillFile } from "../reader.ts";

export interface FetchSkillFilesOptions {
  readonly fetcher: Fetcher;
  readonly signal: AbortSignal;
  readonly git: () => Promise<Pick<GitSource, "readGit">>;
}

type Listed = Extract<RemoteContent, { type: "files" }>["files"];

const manifestName = "SKILL.md";
const manifestBytes = 1024 * 1024;
const fileTimeoutMs = 30_000;
const archiveTimeoutMs = 120_000;
const filesAtOnce = 4;

/**
 * Downloads a skill into memory. Digests are checked before anything is unpacked, every path conforms to the rules, and SKILL.md is at the
 * root. Throws SOURCE_INVALID for unusable content, and the errors of `Fetcher.fetch` and `requireSuccess`.
 */
export async function fetchSkillFiles(
  content: RemoteContent,
  options: FetchSkillFilesOptions,
): Promise<readonly SkillFile[]> {
  return checkFiles(await download(content, options));
}

/** Returns the files if their paths and sizes are allowed for a skill. Throws SOURCE_INVALID. */
export function checkFiles(files: readonly SkillFile[]): readonly SkillFile[] {
  for (const { path } of files) checkPath(path, "skill");
  checkCollisions(files, "skill");
  if (!files.some(({ path }) => path === manifestName))
    throw new SkillsError("SOURCE_INVALID", `The skill has no ${manifestName} at its root.`);
  checkSize(
    files.length,
    files.reduce((sum, { bytes }) => sum + bytes.length, 0),
  );
  return files;
}

async function download(content: RemoteContent, options: FetchSkillFilesOptions): Promise<readonly SkillFile[]> {
  if (content.type === "archive") return await downloadArchive(content, options);
  if (content.type === "files") return await downloadFiles(content.files, options);
  if (content.type === "skill-md") {
    const bytes = await get(content, { maxBytes: manifestBytes, timeoutMs: fileTimeoutMs }, options);
    return [{ path: manifestName, bytes, executable: false }];
  }
  if (content.type === "git") {
    const git = await options.git();
    return await git.readGit(content.repository, content.commit, content.directory, options.signal);
  }
  const reasons = {
    api: "it is invoked over HTTP instead",
    descriptor: "its descriptor was not read",
    pinned: "it is read by the driver of its source",
  };
  const why = content.type === "unusable" ? content.why : reasons[content.type];
  throw new SkillsError("SOURCE_INVALID", `The skill cannot be downloaded: ${why}.`);
}

async function downloadArchive(
  content: Extract<RemoteContent, { type: "archive" }>,
  options: FetchSkillFilesOptions,
): Promise<readonly SkillFile[]> {
  const limits = { maxBytes: skillLimits.packedBytes, timeoutMs: archiveTimeoutMs };
  const packed = await get(content, limits, options);
  const wanted = content.directory?.replace(/^\.\/|\/+$/g, "") ?? "";
  if (wanted === "" || wanted === ".") {
    const { files } = await readArchive(packed, {}, options.signal);
    return atRoot(files);
  }
  const prefix = `${checkPath(wanted, "index")}/`;
  const { files } = await readArchive(packed, { keep: (path) => path.startsWith(prefix) }, options.signal);
  if (files.length === 0) throw badArchive(`has no directory ${JSON.stringify(wanted)}`);
  return without(files, prefix);
}

/** Removes the single top directory that many archives have, unless SKILL.md is at the root. */
function atRoot(files: readonly SkillFile[]): readonly SkillFile[] {
  if (files.some(({ path }) => path === manifestName)) return files;
  const top = files[0]?.path.split("/", 1)[0] ?? "";
  return files.every(({ path }) => path.startsWith(`${top}/`)) ? without(files, `${top}/`) : files;
}

function without(files: readonly SkillFile[], prefix: string): readonly SkillFile[] {
  return files.map((file) => ({ ...file, path: file.path.slice(prefix.length) }));
}

async function downloadFiles(listed: Listed, options: FetchSkillFilesOptions): Promise<readonly SkillFile[]> {
  checkSize(listed.length, 0);
  for (const { path } of listed) checkPath(path, "index");
  let left: number = skillLimits.bytes;
  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  const files = inParallel(listed, filesAtOnce, async (file) => {
    const limits = { maxBytes: Math.max(left, 0), timeoutMs: fileTimeoutMs };
    const bytes = await get(file, limits, { ...options, signal });
    left -= bytes.length;
    checkSize(listed.length, skillLimits.bytes - left);
    return { path: file.path, bytes, executable: false };
  });
  // If one download fails, the others stop.
  return await files.finally(() => failed.abort());
}

async function get(
  { url, digest, path }: { readonly url: string; readonly digest?: string; readonly path?: string },
  limits: { readonly maxBytes: number; readonly timeoutMs: number },
  { fetcher, signal }: FetchSkillFilesOptions,
): Promise<Uint8Array> {
  const what = path === undefined ? "the skill" : JSON.stringify(path);
  // Static servers declare every .gz file as compressed; the digest is that of the file as it was sent.
  const asSent = digest !== undefined;
  const answer = requireSuccess(await fetcher.fetch({ url, ...limits, asSent }, signal), what);
  if (digest !== undefined) {
    await checkDigest(answer.body, digest, what.replace(/^the/, "The")).catch((error: unknown) => {
      throw isCompressed(answer.headers) ? compressed(new URL(answer.url).host) : error;
    });
  }
  return answer.body;
}

function checkSize(count: number, bytes: number): void {
  if (count > skillLimits.files)
    throw new SkillsError("SOURCE_INVALID", `The skill has ${count} files; the limit is ${skillLimits.files}.`);
  if (bytes > skillLimits.bytes)
    throw new SkillsError("SOURCE_INVALID", `The skill has more than ${skillLimits.bytes} bytes, the limit.`);
}

/** Throws SOURCE_INVALID unless the bytes have the digest `sha256:…`. Does not block for long. `what` starts a sentence. */
async function checkDigest(bytes: Uint8Array, digest: string, what: string): Promise<void> {
  if (!digestForm.test(digest.toLowerCase()))
    throw new SkillsError(
      "SOURCE_INVALID",
      `${what} has an invalid digest; it must be sha256: and 64 hexadecimal digits.`,
    );
  const received = `sha256:${await hashInSlices(bytes, "sha256")}`;
  if (received === digest.toLowerCase()) return;
  const message = `${what} is not what its index says: its digest is ${received} instead of ${digest.toLowerCase()}.`;
  throw new SkillsError("SOURCE_INVALID", message);
}
