import type Anthropic from "@anthropic-ai/sdk";
import { type Tool as McpTool, specTypeSchemas } from "@modelcontextprotocol/server";
import { Ajv2020 } from "ajv/dist/2020.js";
import type OpenAI from "openai";
import { describe, expect, expectTypeOf, test } from "vitest";
import { type ToolFormat, availableTools, toolDefinitions } from "../../src/runtime/tools.ts";
import { seedSchemas } from "./tools/seed-schemas.ts";
import { servedTools } from "../../src/wire/tools.ts";

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
const tools = availableTools(undefined);
const names = tools.map(({ name }) => name);

/** The parameters that the contract adds. */
const additions: Readonly<Record<string, readonly string[]>> = {
  list_skills: ["query"],
  execute_skill: ["script"],
  create_blob: ["path"],
  read_blob: ["save_as", "overwrite"],
};

describe("definitions match the protocol's schemas, except for additions", () => {
  test.each(toolDefinitions("json-schema").map((tool) => [tool.name, tool] as const))("%s", (name, tool) => {
    const seed = seedSchemas[name];
    expect(tool.description.startsWith(seed.description)).toBe(true);
    const added = additions[name] ?? [];
    expect(Object.keys(tool.parameters.properties)).toEqual([...Object.keys(seed.parameters.properties), ...added]);
    const { required = [], ...parameters }: { type: string; required?: readonly string[] } = seed.parameters;
    expect(tool.parameters).toMatchObject(parameters);
    // A file's path may stand for content.
    const needed = required.filter((parameter) => name !== "create_blob" || parameter !== "content");
    expect(tool.parameters.required ?? []).toEqual(needed);
  });
});

test("the description of run_code shows in two lines of Python that main(args) is called", () => {
  const { description } = tools.find(({ name }) => name === "run_code")!;
  expect(description).toContain("main(args)");
  expect(description).toMatch(/\ndef main\(args\):\n {4}return .+$/);
});

test("they match OpenAI's published types", () => {
  expectTypeOf(toolDefinitions("openai")).toExtend<OpenAI.ChatCompletionTool[]>();
  expect(toolDefinitions("openai").map((tool) => [tool.type, tool.function.name])).toEqual(
    names.map((name) => ["function", name]),
  );
  for (const { function: tool } of toolDefinitions("openai")) expect(tool.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
});

test("they match Anthropic's published types", () => {
  expectTypeOf(toolDefinitions("anthropic")).toExtend<Anthropic.Tool[]>();
  expect(toolDefinitions("anthropic").map((tool) => [tool.name, tool.input_schema.type])).toEqual(
    names.map((name) => [name, "object"]),
  );
});

test("they match the MCP library's types and validator", () => {
  expectTypeOf(toolDefinitions("mcp")).toExtend<McpTool[]>();
  const result = { tools: toolDefinitions("mcp") };
  expect(specTypeSchemas.ListToolsResult["~standard"].validate(result)).toEqual({ value: result });
});

test("every schema is a JSON Schema that strict validators compile", () => {
  for (const { parameters, response } of toolDefinitions("json-schema")) {
    expect(() => [ajv.compile(parameters), ajv.compile(response)]).not.toThrow();
  }
});

test.each([
  ["list_skills", {}, true],
  ["list_skills", { limit: 1 }, true],
  ["list_skills", { limit: 1e300 }, true],
  ["list_skills", { limit: 0 }, false],
  ["list_skills", { limit: 1.5 }, false],
  ["list_skills", { limit: "1" }, false],
  ["list_skills", { query: "x".repeat(256) }, true],
  ["list_skills", { query: "x".repeat(257) }, false],
  ["list_skills", { detail: "full" }, false],
  ["list_skills", { nmae: "x" }, false],
  ["describe_skill", { name: "a" }, true],
  ["describe_skill", {}, false],
  ["read_skill_file", { name: "a" }, false],
  ["read_blob", { blob_id: "x", max_bytes: 1024 * 1024 }, true],
  ["read_blob", { blob_id: "x", max_bytes: 1024 * 1024 + 1 }, false],
  ["load_skills_protocol_guide", {}, true],
  ["load_skills_protocol_guide", { x: 1 }, false],
])("published and validating schemas agree: %s %j", (name, args, valid) => {
  const tool = tools.find((other) => other.name === name)!;
  const { parameters } = toolDefinitions("json-schema").find((other) => other.name === name)!;
  expect(tool.input.safeParse(args).success).toBe(valid);
  expect(ajv.compile(parameters)(args)).toBe(valid);
});

test("only the tools a caller has are defined", () => {
  const formats: ToolFormat[] = ["mcp", "openai", "anthropic", "json-schema"];
  for (const format of formats) {
    expect(toolDefinitions(format, { tools: ["read_blob", "list_skills"] })).toHaveLength(2);
    expect(toolDefinitions(format, { tools: [] })).toEqual([]);
  }
});

test("callers may modify the definitions they get", () => {
  const [first] = toolDefinitions("mcp");
  Object.assign(first?.inputSchema ?? {}, { title: "changed" });
  expect(toolDefinitions("mcp")[0]?.inputSchema).not.toHaveProperty("title");
});

test("annotations: tools that execute, create or save are not read-only; skills may be destructive and open-world, saving may be destructive", () => {
  const changing = ["create_blob", "execute_skill", "run_code", "read_blob"];
  for (const { name, annotations } of toolDefinitions("mcp")) {
    expect(annotations).toEqual({
      readOnlyHint: !changing.includes(name),
      destructiveHint: ["execute_skill", "read_blob"].includes(name),
      idempotentHint: name === "read_blob" || !changing.includes(name),
      openWorldHint: name === "execute_skill",
    });
  }
});

test.each(["gemini", "constructor", undefined])("an unknown format is refused with the known ones: %j", (format) => {
  const refused = expect.objectContaining({
    code: "INVALID_OPTIONS",
    message: expect.stringContaining("mcp, openai, anthropic, json-schema") as string,
  }) as Error;
  expect(() => toolDefinitions(format as ToolFormat)).toThrow(refused);
});

test("the table of tools names the parameters that their schemas have", () => {
  const loaded = toolDefinitions("mcp").map(({ name, inputSchema }) => [
    name,
    Object.keys(inputSchema.properties).sort(),
  ]);
  expect([...servedTools].map(([name, { parameters }]) => [name, [...parameters].sort()])).toEqual(loaded);
});
