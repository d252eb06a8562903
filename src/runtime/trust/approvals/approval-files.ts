import path from "node:path";
import * as z from "zod";
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { LimitedMap } from "../../../base/limited-map.ts";
import type { Log } from "../../../base/log.ts";
import { systemCode } from "../../../base/failures/system-error.ts";
import type { ApprovalScope } from "../approvals.ts";
import { type CopiedFile, toCopy, toHex } from "../../../skills/copied-files.ts";
import { UnusableFileError, damaged, readOwnFile } from "./own-file.ts";
import { type Approvals, maxBlocks, maxGrants, parseApprovals } from "./scope-approvals.ts";

export const maxApprovalFileBytes = 4 * 1024 * 1024;
export const maxCopyBytes = 8 * 1024 * 1024;
const maxRemembered = 256;

export interface ApprovalFilesOptions {
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The files of a directory of approvals: where they are, and reading them. Reads again only what changed. */
export class ApprovalFiles {
  readonly root: string;
  readonly projects: string;
  readonly copies: string;
  readonly lock: string;
  readonly #options: ApprovalFilesOptions;
  readonly #cached = new LimitedMap<string, { readonly stamp: string; readonly approvals: Approvals }>(maxRemembered);
  /** Why files are not used, as reported last. */
  readonly #reported = new LimitedMap<string, string>(maxRemembered);

  constructor(directory: string, options: ApprovalFilesOptions) {
    this.root = directory;
    this.projects = path.join(directory, "projects");
    this.copies = path.join(directory, "copies");
    this.lock = path.join(directory, "lock");
    this.#options = options;
  }

  fileOf(scope: ApprovalScope): string {
    if (scope === "everywhere") return path.join(this.root, "everywhere.json");
    const name = createHash("sha256").update(scope.project).digest("hex").slice(0, 32);
    return path.join(this.projects, `${name}.json`);
  }

  /** Undefined for what is no digest. */
  copyOf(digest: string): string | undefined {
    const hex = toHex(digest);
    return hex === undefined ? undefined : path.join(this.copies, `${hex}.json`);
  }

  /** The files of all scopes. Throws `FileFault` if they cannot be listed. */
  *all(): Generator<string> {
    yield this.fileOf("everywhere");
    for (const name of namesIn(this.projects)) {
      if (/^[0-9a-f]{32}\.json$/.test(name)) yield path.join(this.projects, name);
    }
  }

  /** What can be used of all scopes. Reports what cannot. */
  readAllOrReport(): readonly Approvals[] {
    const files = this.#orReport(this.projects, () => [...this.all()]) ?? [this.fileOf("everywhere")];
    return files.flatMap((file) => this.readOrReport(file) ?? []);
  }

  /** The digests of all copies. Throws `FileFault` if they cannot be listed. */
  *copied(): Generator<string> {
    for (const name of namesIn(this.copies)) {
      const [, hex] = /^([0-9a-f]{64})\.json$/.exec(name) ?? [];
      if (hex !== undefined) yield `sha256:${hex}`;
    }
  }

  /** Undefined if it is missing. Throws `FileFault` if it is not used. */
  read(file: string): Approvals | undefined {
    const cached = this.#cached.get(file);
    const directories = [this.root, ...(path.dirname(file) === this.root ? [] : [this.projects])];
    const { now } = this.#options;
    const found = readOwnFile(file, { directories, maxBytes: maxApprovalFileBytes, known: cached?.stamp, now });
    if (found === undefined) return undefined;
    if (found.text === undefined) return cached?.approvals;
    this.#cached.delete(file);
    const approvals = fromApprovalsText(found.text);
    const { project } = approvals;
    if (this.fileOf(project === undefined ? "everywhere" : { project }) !== file)
      throw damaged(`it is for ${project === undefined ? "everywhere" : `the project ${JSON.stringify(project)}`}`);
    if (found.stamp !== undefined) this.#cached.set(file, { stamp: found.stamp, approvals });
    return approvals;
  }

  /** As `read`, but returns undefined for a file that is not used, and reports it once. */
  readOrReport(file: string): Approvals | undefined {
    return this.#orReport(file, () => this.read(file));
  }

  /** Undefined if there is none that can be used. */
  readCopy(digest: string): readonly CopiedFile[] | undefined {
    const file = this.copyOf(digest);
    if (file === undefined) return undefined;
    return this.#orReport(file, () => {
      const directories = [this.root, this.copies];
      const found = readOwnFile(file, { directories, maxBytes: maxCopyBytes, now: this.#options.now });
      return found?.text === undefined ? undefined : fromCopyText(found.text, digest);
    });
  }

  /** Logs why a file is not used, unless that was the last report about it. */
  report(file: string, message: string): void {
    if (this.#reported.get(file) === message) return;
    this.#reported.set(file, message);
    this.#options.log("warning", message);
  }

  #orReport<Value>(file: string, read: () => Value | undefined): Value | undefined {
    try {
      const value = read();
      this.#reported.delete(file);
      return value;
    } catch (error) {
      if (!(error instanceof UnusableFileError)) throw error;
      this.report(
        file,
        `${file} is not used, so that nothing in it counts: ${error.message}. ${error.remedy}`.trimEnd(),
      );
      return undefined;
    }
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).sort();
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw new UnusableFileError(`it cannot be listed (${systemCode(error)})`, "");
  }
}

const copySchema = z.strictObject({
  format: z.literal("acp-skills copy 1"),
  digest: z.string(),
  files: z.array(z.strictObject({ path: z.string(), sha256: z.string(), text: z.string().exactOptional() })),
});

/** Throws `FileFault`. */
function fromApprovalsText(text: string): Approvals {
  const value = fromJson(text);
  const { format, grants, blocks } = value as { format?: unknown; grants?: unknown; blocks?: unknown };
  if (typeof format === "string" && /^acp-skills approvals (?!1$)\d+$/.test(format))
    throw new UnusableFileError(
      `it was written by another version of acp-skills (${format.slice(0, 40)})`,
      "Update acp-skills.",
    );
  // Before all of them are looked at.
  if (lengthOf(grants) > maxGrants) throw damaged(`it has more than ${maxGrants.toLocaleString("en")} grants`);
  if (lengthOf(blocks) > maxBlocks) throw damaged(`it has more than ${maxBlocks.toLocaleString("en")} blocks`);
  return valid(() => parseApprovals(value));
}

export function toApprovalsText(approvals: Approvals): string {
  return toText(approvals);
}

/** The copy of a version. Text that is not that of its file is left out. Throws `FileFault`. */
function fromCopyText(text: string, digest: string): readonly CopiedFile[] {
  const copy = valid(() => copySchema.parse(fromJson(text)));
  const files = copy.digest === digest ? toCopy(copy.files) : undefined;
  if (files === undefined) throw damaged("it is the copy of another version");
  return files;
}

export function toCopyText(digest: string, files: readonly CopiedFile[]): string {
  return toText({ format: "acp-skills copy 1", digest, files });
}

function toText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function fromJson(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw damaged(`it is not JSON (${error instanceof Error ? toLine(error.message) : "no text"})`);
  }
  if (typeof value !== "object" || value === null) throw damaged("it is not a JSON object");
  return value;
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

function valid<Value>(parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const { path = [], message = "" } = error.issues[0] ?? {};
    throw damaged(`${path.length === 0 ? "it" : toLine(z.core.toDotPath(path))} is not valid (${toLine(message)})`);
  }
}

/** A short line of a text that may hold anything. */
function toLine(text: string): string {
  return text.replace(/[\p{C}\p{Z}]+/gu, " ").slice(0, 120);
}
