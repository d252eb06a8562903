import * as z from "zod";
import { SkillsError } from "../base/errors.ts";
import type { RunResult } from "./runs/run-spec.ts";
import { createBlob } from "./tools/create_blob.ts";
import { describeSkill } from "./tools/describe_skill.ts";
import { executeSkill } from "./tools/execute_skill.ts";
import { listSkills } from "./tools/list_skills.ts";
import { loadSkillsProtocolGuide } from "./tools/load_skills_protocol_guide.ts";
import { readBlob } from "./tools/read_blob.ts";
import { readSkillFile } from "./tools/read_skill_file.ts";
import { runCode } from "./tools/run_code.ts";
import type { Tool } from "./tools/tool.ts";
import { type ToolAnnotations, type ToolName, toolFacts } from "../wire/tools.ts";

export { fromCursor, toCursor } from "./tools/list_skills.ts";

/** The tools, in the order in which they are listed. A tool is its file, its line here, and its row in `wire/tools.ts`. */
const tools = {
  list_skills: listSkills,
  describe_skill: describeSkill,
  read_skill_file: readSkillFile,
  execute_skill: executeSkill,
  run_code: runCode,
  create_blob: createBlob,
  read_blob: readBlob,
  load_skills_protocol_guide: loadSkillsProtocolGuide,
} as const satisfies Record<ToolName, object>;

/** The tools by name, as their files define them. */
type Tools = typeof tools;

export const allTools = Object.values(tools) as readonly unknown[] as readonly Tool[];

/** Returns the tools that a caller has, in the order in which they are listed. */
export function availableTools(names: readonly ToolName[] | undefined): readonly Tool[] {
  return names === undefined ? allTools : allTools.filter((tool) => names.includes(tool.name));
}

/** The names of the tools. */
export type ServedToolName = keyof Tools;

/** The result of `read_blob`. */
type ReadBlob = z.infer<Tools["read_blob"]["output"]>;

/** A section of a blob or, with `save_as`, the file to which it was written. */
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

type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** The JSON Schema of an object (draft 2020-12). */
export interface ObjectSchema {
  type: "object";
  properties: Record<string, Record<string, JsonValue>>;
  required?: string[];
  [keyword: string]: unknown;
}

export interface McpTool {
  readonly name: ToolName;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: ToolAnnotations;
}

const formats = {
  mcp: ({ name, description, input, output }: Tool): McpTool => ({
    name,
    title: toolFacts[name].title,
    description,
    inputSchema: toObjectSchema(input, "input"),
    outputSchema: toObjectSchema(output, "output"),
    annotations: toolFacts[name].annotations,
  }),
  openai: ({ name, description, input }: Tool) => ({
    type: "function" as const,
    function: { name, description, parameters: toObjectSchema(input, "input") },
  }),
  anthropic: ({ name, description, input }: Tool) => ({
    name,
    description,
    input_schema: toObjectSchema(input, "input"),
  }),
  "json-schema": ({ name, description, input, output }: Tool) => ({
    name,
    description,
    parameters: toObjectSchema(input, "input"),
    response: toObjectSchema(output, "output"),
  }),
};

/** The formats of tool definitions: those of MCP and of two APIs of models, and plain JSON Schema. */
export type ToolFormat = keyof typeof formats;

/** A tool in the formats of models' APIs. */
export type ToolDefinitions = { readonly [Format in ToolFormat]: ReturnType<(typeof formats)[Format]> };

/**
 * Returns all tools, or only those named, in the format of a model's API. Every call makes new objects. Throws INVALID_OPTIONS for an
 * unknown format.
 */
export function toolDefinitions<Format extends ToolFormat>(
  format: Format,
  { tools }: { readonly tools?: readonly ToolName[] } = {},
): ToolDefinitions[Format][] {
  if (!Object.hasOwn(formats, format)) {
    const message = `Format: expected one of ${Object.keys(formats).join(", ")}, got ${format}.`;
    throw new SkillsError("INVALID_OPTIONS", message, { facts: { option: "format" } });
  }
  const define = formats[format] as (tool: Tool) => ToolDefinitions[Format];
  return availableTools(tools).map(define);
}

function toObjectSchema(schema: z.ZodType, io: "input" | "output"): ObjectSchema {
  const json = z.toJSONSchema(schema, { io, target: "draft-2020-12" });
  delete json.$schema;
  return json as ObjectSchema;
}
