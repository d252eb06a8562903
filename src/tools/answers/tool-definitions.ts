import * as z from "zod";
import { SkillsError } from "../../errors.ts";
import type { Tool, ToolAnnotations } from "../tool.ts";
import { type ToolName, toolFacts } from "../tool-names.ts";
import { availableTools } from "../tools.ts";

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

interface OpenAiTool {
  readonly type: "function";
  readonly function: { readonly name: ToolName; readonly description: string; readonly parameters: ObjectSchema };
}

interface AnthropicTool {
  readonly name: ToolName;
  readonly description: string;
  readonly input_schema: ObjectSchema;
}

interface PlainTool {
  readonly name: ToolName;
  readonly description: string;
  readonly parameters: ObjectSchema;
  readonly response: ObjectSchema;
}

export interface ToolDefinitions {
  readonly mcp: McpTool;
  readonly openai: OpenAiTool;
  readonly anthropic: AnthropicTool;
  readonly "json-schema": PlainTool;
}

export type ToolFormat = keyof ToolDefinitions;

const formats: { readonly [Format in ToolFormat]: (tool: Tool) => ToolDefinitions[Format] } = {
  mcp: ({ name, description, input, output, annotations }) => ({
    name,
    title: toolFacts[name].title,
    description,
    inputSchema: toObjectSchema(input, "input"),
    outputSchema: toObjectSchema(output, "output"),
    annotations,
  }),
  openai: ({ name, description, input }) => ({
    type: "function",
    function: { name, description, parameters: toObjectSchema(input, "input") },
  }),
  anthropic: ({ name, description, input }) => ({ name, description, input_schema: toObjectSchema(input, "input") }),
  "json-schema": ({ name, description, input, output }) => ({
    name,
    description,
    parameters: toObjectSchema(input, "input"),
    response: toObjectSchema(output, "output"),
  }),
};

/**
 * The tools as a model's API takes them; only those named, where names are given. Every call makes new objects. Throws INVALID_OPTIONS
 * for a format that is none.
 */
export function toolDefinitions<Format extends ToolFormat>(
  format: Format,
  { tools }: { readonly tools?: readonly ToolName[] } = {},
): ToolDefinitions[Format][] {
  if (!Object.hasOwn(formats, format)) {
    const message = `Format: expected one of ${Object.keys(formats).join(", ")}, got ${format}.`;
    throw new SkillsError("INVALID_OPTIONS", message, { facts: { option: "format" } });
  }
  return availableTools(tools).map((tool) => formats[format](tool));
}

function toObjectSchema(schema: z.ZodType, io: "input" | "output"): ObjectSchema {
  const json = z.toJSONSchema(schema, { io, target: "draft-2020-12" });
  delete json.$schema;
  return json as ObjectSchema;
}
