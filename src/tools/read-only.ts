import type { ToolAnnotations } from "./tool.ts";

/** A tool that only reads. */
export const readOnly: ToolAnnotations = Object.freeze({
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
});
