import type * as z from "zod";
import type { Tools } from "../tools.ts";
import type { RunResult } from "../../runs/record/run-result.ts";

/** The names of the tools. */
export type ServedToolName = keyof Tools;

type ReadBlob = z.infer<Tools["read_blob"]["output"]>;

/** A part of a blob, or with `save_as` the file it was written to. */
type BlobOutput =
  | (Required<Omit<ReadBlob, "saved_as">> & { readonly saved_as?: never })
  | (Required<Pick<ReadBlob, "saved_as" | "size_bytes">> & { readonly content?: never });

/** The arguments of a tool. */
export type ToolInput<Name extends ServedToolName> = z.input<Tools[Name]["input"]>;

/** The result of a tool. */
export type ToolOutput<Name extends ServedToolName> = Name extends "execute_skill" | "run_code"
  ? RunResult
  : Name extends "read_blob"
    ? BlobOutput
    : z.infer<Tools[Name]["output"]>;
