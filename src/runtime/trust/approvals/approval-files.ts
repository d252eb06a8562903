import path from "node:path";
import { createHash } from "node:crypto";
import * as z from "zod";
import { LimitedMap } from "../../../base/limited-map.ts";
import type { Log } from "../../../base/log.ts";
import { systemCode } from "../../../base/failures/system-error.ts";
import { isObject } from "../../../base/json/json-value.ts";
import { namesIn, ownershipFault } from "../../../base/paths/directories.ts";
import { readGuardedFile } from "../../../base/paths/read-guarded-file.ts";
import { changedAt, fileStamp } from "../../../base/paths/identity.ts";
import type { ApprovalScope } from "../approvals.ts";
import { type CopiedFile, toCopy, toHex } from "../../../skills/files.ts";
import { type Approvals, maxBlocks, maxGrants, parseApprovals } from "./scope-approvals.ts";

export const maxApprovalFileBytes = 4 * 1024 * 1024;
export const maxCopyBytes = 8 * 1024 * 1024;
const maxRemembered = 256;
/** A file written twice within one tick of the disk's clock may retain its stamp. So the stamp of a younger file proves nothing. */
const youngMs = 2_000;

/** Why a file is not used: a clause that starts with "it". */
export class UnusableFileError extends Error {
  /** A sentence. */
  readonly remedy: string;
  /** Whether it is the user's own file, and may be moved aside for a new one. */
  readonly isReplaceable: boolean;

  constructor(why: string, remedy: string, isReplaceable = false) {
    super(why);
    this.remedy = remedy;
    this.isReplaceable = isReplaceable;
  }
}

/**
 * Finds and reads the files of a directory of approvals. A file counts only if nobody but this user can have written it. Only changed files
 * are read again.
 */
export class ApprovalFiles {
  readonly root: string;
  readonly projects: string;
  readonly copies: string;
  readonly lock: string;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #cached = new LimitedMap<string, { readonly stamp: string; readonly approvals: Approvals }>(maxRemembered);
  /** Why files are not used, as reported last. */
  readonly #reported = new LimitedMap<string, string>(maxRemembered);

  constructor(directory: string, { log, now }: { readonly log: Log; readonly now: () => number }) {
    this.root = directory;
    this.projects = path.join(directory, "projects");
    this.copies = path.join(directory, "copies");
    this.lock = path.join(directory, "lock");
    this.#log = log;
    this.#now = now;
  }

  fileOf(scope: ApprovalScope): string {
    if (scope === "everywhere") return path.join(this.root, "everywhere.json");
    const name = createHash("sha256").update(scope.project).digest("hex").slice(0, 32);
    return path.join(this.projects, `${name}.json`);
  }

  /** The file of a copy; undefined if `digest` is invalid. */
  copyOf(digest: string): string | undefined {
    const hex = toHex(digest);
    return hex === undefined ? undefined : path.join(this.copies, `${hex}.json`);
  }

  /** The files of all scopes. Throws `UnusableFileError` if they cannot be listed. */
  all(): readonly string[] {
    const projects = listedIn(this.projects).filter((name) => /^[0-9a-f]{32}\.json$/.test(name));
    return [this.fileOf("everywhere"), ...projects.map((name) => path.join(this.projects, name))];
  }

  /** The usable approvals of all scopes. Reports each file that is not usable. */
  readAllOrReport(): readonly Approvals[] {
    const files = this.#orReport(this.projects, () => this.all()) ?? [this.fileOf("everywhere")];
    return files.flatMap((file) => this.readOrReport(file) ?? []);
  }

  /** The digests of all copies. Throws `UnusableFileError` if they cannot be listed. */
  copied(): readonly string[] {
    const names = listedIn(this.copies).filter((name) => /^[0-9a-f]{64}\.json$/.test(name));
    return names.map((name) => `sha256:${path.parse(name).name}`);
  }

  /** Reads approvals; undefined if the file is missing. Throws `UnusableFileError` if it cannot be used. */
  read(file: string): Approvals | undefined {
    const stamp = stampOf(file, this.root);
    if (stamp === undefined) return undefined;
    const cached = this.#cached.get(file);
    if (cached?.stamp === stamp) return cached.approvals;
    this.#cached.delete(file);
    const approvals = parsed(ownText(file, maxApprovalFileBytes), toApprovals);
    const { project } = approvals;
    if (this.fileOf(project === undefined ? "everywhere" : { project }) !== file)
      throw damaged(`it is for ${project === undefined ? "everywhere" : `the project ${JSON.stringify(project)}`}`);
    if (this.#now() - changedAt(stamp) >= youngMs) this.#cached.set(file, { stamp, approvals });
    return approvals;
  }

  /** Reads like `read`, but returns undefined for a file that is not used, and reports it once. */
  readOrReport(file: string): Approvals | undefined {
    return this.#orReport(file, () => this.read(file));
  }

  /** The files of an approved version; undefined if no usable copy exists. */
  readCopy(digest: string): readonly CopiedFile[] | undefined {
    const file = this.copyOf(digest);
    if (file === undefined) return undefined;
    return this.#orReport(file, () => {
      if (stampOf(file, this.root) === undefined) return undefined;
      const copy = parsed(ownText(file, maxCopyBytes), (value) => copySchema.parse(value));
      // `toCopy` leaves out text that does not have the hash of its file.
      const files = copy.digest === digest ? toCopy(copy.files) : undefined;
      if (files === undefined) throw damaged("it is the copy of another version");
      return files;
    });
  }

  /** Logs why a file is not used, unless that was the last report about it. */
  report(file: string, message: string): void {
    if (this.#reported.get(file) === message) return;
    this.#reported.set(file, message);
    this.#log("warning", message);
  }

  #orReport<Value>(file: string, read: () => Value | undefined): Value | undefined {
    try {
      const value = read();
      this.#reported.delete(file);
      return value;
    } catch (error) {
      if (!(error instanceof UnusableFileError)) throw error;
      const why = `${file} is not used, so that nothing in it counts: ${error.message}. ${error.remedy}`;
      this.report(file, why.trimEnd());
      return undefined;
    }
  }
}

function listedIn(directory: string): readonly string[] {
  try {
    return namesIn(directory).toSorted();
  } catch (error) {
    throw new UnusableFileError(`it cannot be listed (${String(error)})`, "");
  }
}

/** The stamp of a file; undefined if it is missing. Throws `UnusableFileError` if others could replace it. */
function stampOf(file: string, root: string): string | undefined {
  const stamp = fileStamp(file);
  if (stamp === undefined) return undefined;
  for (const directory of [root, path.dirname(file)]) {
    const fault = faultOf(directory);
    if (fault !== undefined) throw new UnusableFileError(`of its directory ${directory}: ${fault}`, "");
  }
  return stamp;
}

function faultOf(directory: string): string | undefined {
  try {
    return ownershipFault(directory);
  } catch (error) {
    return `it cannot be read (${systemCode(error)})`;
  }
}

function ownText(file: string, maxBytes: number): string {
  const read = readGuardedFile(file, { maxBytes, of: "us" });
  if ("text" in read) return read.text.replace(/^\uFEFF/, "");
  throw read.isDamaged === true ? damaged(read.fault) : new UnusableFileError(read.fault, read.fix);
}

/** A file of the user's own whose content cannot be used. */
function damaged(why: string): UnusableFileError {
  return new UnusableFileError(why, "Correct it, or remove it.", true);
}

const copySchema = z.strictObject({
  format: z.literal("acp-skills copy 1"),
  digest: z.string(),
  files: z.array(z.strictObject({ path: z.string(), sha256: z.string(), text: z.string().exactOptional() })),
});

export function toCopyText(digest: string, files: readonly CopiedFile[]): string {
  return `${JSON.stringify({ format: "acp-skills copy 1", digest, files }, undefined, 2)}\n`;
}

function toApprovals(value: unknown): Approvals {
  const { format, grants, blocks } = isObject(value) ? value : {};
  if (typeof format === "string" && /^acp-skills approvals (?!1$)\d+$/.test(format)) {
    const why = `it was written by another version of acp-skills (${format.slice(0, 40)})`;
    throw new UnusableFileError(why, "Update acp-skills.");
  }
  // Checked before any entry is parsed.
  for (const [what, list, max] of [
    ["grants", grants, maxGrants],
    ["blocks", blocks, maxBlocks],
  ] as const)
    if (Array.isArray(list) && list.length > max) throw damaged(`it has more than ${max.toLocaleString("en")} ${what}`);
  return parseApprovals(value);
}

function parsed<Value>(text: string, parse: (value: unknown) => Value): Value {
  try {
    return parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw damaged(`it is not JSON (${toLine(error.message)})`);
    if (!(error instanceof z.ZodError)) throw error;
    const { path = [], message = "" } = error.issues[0] ?? {};
    throw damaged(`${path.length === 0 ? "it" : toLine(z.core.toDotPath(path))} is not valid (${toLine(message)})`);
  }
}

/** Shortens any text to one line of at most 120 characters. */
function toLine(text: string): string {
  return text.replace(/[\p{C}\p{Z}]+/gu, " ").slice(0, 120);
}
