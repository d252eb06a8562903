import * as z from "zod";
import { type CopiedFile, toCopy } from "../../../skills/copied-files.ts";
import { UnusableFileError, damaged } from "./own-file.ts";
import { type Approvals, maxBlocks, maxGrants, parseApprovals } from "./scope-approvals.ts";

const copySchema = z.strictObject({
  format: z.literal("acp-skills copy 1"),
  digest: z.string(),
  files: z.array(z.strictObject({ path: z.string(), sha256: z.string(), text: z.string().exactOptional() })),
});

/** Throws `FileFault`. */
export function fromApprovalsText(text: string): Approvals {
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
export function fromCopyText(text: string, digest: string): readonly CopiedFile[] {
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

/** Of a text that may hold anything. */
function toLine(text: string): string {
  return text.replace(/[\p{C}\p{Z}]+/gu, " ").slice(0, 120);
}
