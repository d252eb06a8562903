import * as z from "zod";
import { toContent } from "./content.ts";
import { defaultPreviewBytes, maxPreviewBytes } from "./limits.ts";
import { readOnly } from "./read-only.ts";
import { defineTool } from "./tool.ts";
import { wholeNumber } from "./whole-number.ts";

export const readBlob = defineTool({
  name: "read_blob",
  title: "Read a blob",
  description: "Retrieve a preview of blob content. Full reads discouraged for large blobs.",
  input: z.strictObject({
    blob_id: z.string().describe("Blob identifier"),
    mode: z.enum(["sample_head", "sample_tail", "full"]).default("sample_head").describe("How to sample the blob"),
    max_bytes: wholeNumber({ least: 1, most: maxPreviewBytes })
      .default(defaultPreviewBytes)
      .describe("Maximum bytes to return"),
  }),
  output: z.strictObject({
    content: z.string(),
    truncated: z.boolean(),
    kind: z.string(),
    size_bytes: z.number(),
    encoding: z.enum(["utf-8", "base64"]),
  }),
  annotations: readOnly,
  async run({ blobs, owner }, { blob_id: id, mode, max_bytes: wanted }, signal) {
    const { size, kind } = await blobs.stat(owner, id);
    const length = Math.min(size, mode === "full" ? maxPreviewBytes : wanted);
    const offset = mode === "sample_tail" ? size - length : 0;
    const bytes = await gather(blobs.read(owner, id, { offset, length }), signal);
    const cut = { start: offset > 0, end: offset + length < size };
    const { content, encoding } = toContent(bytes, cut);
    return { output: { content, truncated: length < size, kind, size_bytes: size, encoding } };
  },
});

async function gather(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}
