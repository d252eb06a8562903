import * as z from "zod";
import type { BlobKind } from "../blobs.ts";
import { SkillsError } from "../../base/errors.ts";
import { defineTool } from "./tool.ts";
import { invalidInput } from "../../base/failures/invalid-input.ts";
import { parseBlobKind } from "../blobs/blob-rules.ts";

export const createBlob = defineTool({
  name: "create_blob",
  description: "Store large content as a blob and return its ID.",
  input: z.strictObject({
    content: z.string().optional().describe("Content to store"),
    kind: z.string().describe("MIME type (e.g., 'text/plain', 'application/json')"),
    path: z
      .string()
      .optional()
      .describe("Instead of content: a file of the project to store, relative to the project directory"),
  }),
  output: z.strictObject({ blob_id: z.string(), size_bytes: z.number() }),
  async run({ blobs, owner, limits: { maxBlobBytes }, projectFiles }, { content, kind: text, path }, signal) {
    const parsed = parseBlobKind(text);
    if (parsed === undefined) {
      const expected = "type/subtype[;name=value] of at most 127 characters, ending with ;base64 for base64 content";
      throw invalidInput("create_blob", [{ field: "/kind", expected, actual: text.slice(0, 128) }]);
    }
    if ((content === undefined) === (path === undefined)) {
      const actual = content === undefined ? null : "both";
      throw invalidInput("create_blob", [{ field: "/content", expected: "either content or path", actual }]);
    }
    if (path !== undefined && parsed.base64) {
      const expected = "no ;base64 together with path";
      throw invalidInput("create_blob", [{ field: "/kind", expected, actual: text }]);
    }
    const bytes =
      path === undefined ? toBytes(content ?? "", parsed, maxBlobBytes) : projectFiles().read(path, maxBlobBytes);
    const { id, size } = await blobs.put(owner, parsed.kind, bytes, { signal });
    return { output: { blob_id: id, size_bytes: size } };
  },
});

function toBytes(content: string, { base64 }: BlobKind, maxBlobBytes: number): Uint8Array {
  // Checked before copying: a UTF-16 unit is at least one byte.
  if (!base64 && content.length > maxBlobBytes) throw tooLarge(maxBlobBytes);
  const bytes = base64 ? decode(content) : encode(content);
  if (bytes.length > maxBlobBytes) throw tooLarge(maxBlobBytes);
  return bytes;
}

function encode(content: string): Uint8Array {
  if (/\p{Surrogate}/u.test(content)) {
    const expected = "text without lone surrogates; send other bytes as base64 and end kind with ;base64";
    throw invalidInput("create_blob", [{ field: "/content", expected, actual: "text with a lone surrogate" }]);
  }
  return Buffer.from(content, "utf8");
}

/** Decodes base64 of RFC 4648; whitespace is ignored and padding is optional. */
function decode(content: string): Uint8Array {
  const text = content.replace(/[\t\n\r ]+/g, "");
  const digits = text.replace(/={1,2}$/, "");
  const isPadded = digits.length < text.length;
  const isWhole = digits.length % 4 !== 1 && (!isPadded || text.length % 4 === 0);
  if (!isWhole || !/^[A-Za-z0-9+/]*$/.test(digits)) {
    const expected = "base64 (A-Z a-z 0-9 + / and = at the end), because kind ends with ;base64";
    throw invalidInput("create_blob", [{ field: "/content", expected, actual: `${content.slice(0, 40)}…` }]);
  }
  return Buffer.from(digits, "base64");
}

function tooLarge(limitBytes: number): SkillsError {
  const message = `The content is too large; the limit for a blob is ${limitBytes} bytes.`;
  const hint = "Split it into several blobs.";
  return new SkillsError("BLOB_TOO_LARGE", message, { facts: { limitBytes, hint } });
}
