import type { ToolAnnotations } from "./tool.ts";

/** A tool that looks at what is here, and changes nothing. */
export const readOnly: ToolAnnotations = Object.freeze({
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
});
