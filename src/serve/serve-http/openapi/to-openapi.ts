import { sharingVersion } from "../../../wire/skill-sharing.ts";
import type { ServeConfig } from "../../config.ts";
import { type JsonSchema, toSchemaRef } from "./json-schema.ts";
import { type Operation, operations } from "./operations.ts";
import { rpcSchemas } from "./rpc-schemas.ts";
import { sharingSchemas } from "./sharing-schemas.ts";

/** What the document says of the server. */
export interface DescribedServer {
  readonly baseUrl: string;
  readonly version: string;
  readonly config: Pick<ServeConfig, "provider" | "limits">;
}

/**
 * The description of every route (OpenAPI 3.1), from the schemas by which the server reads and writes. The same for all callers: it tells
 * what can be asked, not which skills there are. Pure.
 */
export function toOpenApi({ baseUrl, version, config: { provider, limits } }: DescribedServer): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const operation of operations) (paths[operation.path] ??= {})[operation.method] = toOperation(operation);
  return {
    openapi: "3.1.1",
    jsonSchemaDialect: "https://json-schema.org/draft/2020-12/schema",
    info: {
      title: `Skills of ${provider.name}`,
      version,
      description: `The tools by JSON-RPC and MCP, and skills by Skill Sharing ${sharingVersion} and Agent Skills discovery 0.2.`,
    },
    servers: [{ url: baseUrl }],
    // With a token, or without: then only what is public.
    security: [{ bearer: [] }, {}],
    paths,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      schemas: { ...rpcSchemas(limits.batch), ...sharingSchemas(), McpMessage: mcpMessage, McpError: mcpError },
    },
  };
}

function toOperation({
  id,
  summary,
  parameters,
  body,
  bodyType = "application/json",
  responses,
  error = "SharingError",
}: Operation): JsonSchema {
  const refusal = {
    description: "The request is refused: 401 without a valid token, 429 over a limit, and so on.",
    content: { "application/json": { schema: toSchemaRef(error) } },
  };
  return {
    operationId: id,
    summary,
    ...(parameters !== undefined && parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: { [bodyType]: { schema: body } } } }),
    responses: { ...responses, "4XX": refusal },
  };
}

/** Of every revision of MCP; before 2025-06-18 also batches. */
const mcpMessage: JsonSchema = {
  type: "object",
  properties: {
    jsonrpc: { const: "2.0" },
    id: { type: ["string", "number"] },
    method: { type: "string", examples: ["tools/list", "tools/call", "resources/list", "initialize"] },
    params: { type: "object" },
  },
  required: ["jsonrpc"],
};

/** The errors that the MCP library writes have less in them than ours. */
const mcpError: JsonSchema = {
  type: "object",
  properties: {
    jsonrpc: { const: "2.0" },
    error: {
      type: "object",
      properties: { code: { type: "integer" }, message: { type: "string" } },
      required: ["code", "message"],
    },
  },
  required: ["jsonrpc", "error"],
};
