import { buffer } from "node:stream/consumers";
import * as z from "zod";
import { invalidInput } from "../../base/failures/invalid-input.ts";
import { toContent } from "../../base/text/content.ts";
import { defineTool } from "./tool.ts";
import { wholeNumber } from "./parameters.ts";
import { defaultPreviewBytes, maxBlobPreviewBytes } from "../../wire/tools.ts";

export const readBlob = defineTool({
  name: "read_blob",
  description: "Retrieve a preview of blob content. Full reads discouraged for large blobs.",
  input: z.strictObject({
    blob_id: z.string().describe("Blob identifier"),
    mode: z.enum(["sample_head", "sample_tail", "full"]).default("sample_head").describe("How to sample the blob"),
    max_bytes: wholeNumber({ min: 1, max: maxBlobPreviewBytes })
      .default(defaultPreviewBytes)
      .describe("Maximum bytes to return"),
    save_as: z
      .string()
      .optional()
      .describe(
        "Write the whole blob to this new file, relative to the project directory, instead of returning content",
      ),
    overwrite: z.boolean().optional().describe("With save_as: replace an existing file"),
  }),
  output: z.strictObject({
    content: z.string().optional(),
    truncated: z.boolean().optional(),
    kind: z.string().optional(),
    size_bytes: z.number(),
    encoding: z.enum(["utf-8", "base64"]).optional(),
    saved_as: z.string().optional().describe("The file that was written, instead of content"),
  }),
  async run({ blobs, owner, projectFiles }, input, signal) {
    const { blob_id: id, mode, max_bytes: wanted, save_as: path, overwrite = false } = input;
    if (path === undefined && overwrite) {
      const expected = "to be used together with save_as";
      throw invalidInput("read_blob", [{ field: "/overwrite", expected, actual: overwrite }]);
    }
    const { size, kind } = await blobs.stat(owner, id);
    if (path !== undefined) {
      await projectFiles().write(path, blobs.read(owner, id), { overwrite, signal });
      return { output: { saved_as: path, size_bytes: size } };
    }
    const length = Math.min(size, mode === "full" ? maxBlobPreviewBytes : wanted);
    const offset = mode === "sample_tail" ? size - length : 0;
    const bytes = await buffer(blobs.read(owner, id, { offset, length }));
    signal.throwIfAborted();
    const cut = { start: offset > 0, end: offset + length < size };
    const { content, encoding } = toContent(bytes, cut);
    return { output: { content, truncated: length < size, kind, size_bytes: size, encoding } };
  },
});
