import { readFileSync } from "node:fs";
import * as z from "zod";
import { packageUrl } from "../../base/paths/location.ts";
import { toolDefinitions } from "../../runtime/tools.ts";
import {
  acceptedExecution,
  executionResult,
  executionStatus,
  registryPage,
  sharingError,
  sharingVersion,
  skillDescriptor,
  skillIndex,
} from "../../wire/skill-sharing.ts";
import { type CachedResponse, sendCached, toCachedResponse } from "../cached-response.ts";
import type { ServeConfig } from "../config.ts";
import { executionParameters } from "../publish.ts";
import type { CreateRoutes } from "../serve-context.ts";

/** A JSON Schema (2020-12), or a piece of an OpenAPI document. */
type JsonSchema = Readonly<Record<string, unknown>>;

/** `GET /openapi.json`: the same for everybody, made at the first request. */
export const openApiRoutes: CreateRoutes = ({ app, config, baseUrl }) => {
  let cached: CachedResponse | undefined;
  return [
    {
      method: "GET",
      path: "/openapi.json",
      isIndependent: true,
      answer(exchange) {
        cached ??= toCachedResponse(JSON.stringify(toOpenApi({ baseUrl: baseUrl(), version: app.version, config })));
        return sendCached(exchange, cached, { isPublic: true });
      },
    },
  ];
};

/** The facts of the server that the document states. */
export interface DescribedServer {
  readonly baseUrl: string;
  readonly version: string;
  readonly config: Pick<ServeConfig, "provider" | "limits">;
}

/** The file `openapi.json`: an OpenAPI document without pieces that are generated from schemas or equal in several operations. */
interface WrittenDocument extends JsonSchema {
  readonly paths: Operations;
  /** Operations for callers, which exist below the secret path of a share, too. */
  readonly downloads: Operations;
  /** The parameters of paths by name, as between braces in paths. */
  readonly pathParameters: Readonly<Record<string, JsonSchema>>;
  readonly components: { readonly securitySchemes: JsonSchema; readonly schemas: JsonSchema };
}

/** Operations by path and method. */
type Operations = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

interface Operation extends JsonSchema {
  readonly operationId: string;
  readonly parameters?: readonly JsonSchema[];
  readonly responses: JsonSchema;
}

/**
 * Describes every route (OpenAPI 3.1), with the schemas by which the server reads and writes. The description is the same for all callers:
 * it has the possible requests, but names no skills. Pure.
 */
export function toOpenApi({ baseUrl, version, config: { provider, limits } }: DescribedServer): JsonSchema {
  const text = readFileSync(packageUrl("serve/routes/openapi.json"), "utf8");
  const { paths, downloads, pathParameters, components, ...document } = JSON.parse(text) as WrittenDocument;
  const shared = Object.entries(downloads).map(([path, operations]) => {
    const named = mapValues(operations, (operation) => {
      return { ...operation, operationId: operation.operationId.replace("get", "getShared") };
    });
    return [`/s/{token}${path}`, named] as const;
  });
  const all: Operations = { ...paths, ...downloads, ...Object.fromEntries(shared) };
  return {
    ...document,
    info: {
      title: `Skills of ${provider.name}`,
      version,
      description: `The tools by JSON-RPC and MCP, and skills by Skill Sharing ${sharingVersion} and Agent Skills discovery 0.2.`,
    },
    servers: [{ url: baseUrl }],
    paths: mapValues(all, (operations, path) => {
      const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => pathParameters[name]);
      return mapValues(operations, (operation) => {
        const parameters = [...inPath, ...(operation.parameters ?? [])];
        const responses = { ...operation.responses, "4XX": refusalAt(path) };
        return { ...operation, ...(parameters.length > 0 && { parameters }), responses };
      });
    }),
    components: {
      ...components,
      schemas: { ...components.schemas, ...rpcSchemas(limits.batch), ...sharingSchemas() },
    },
  };
}

function mapValues<Value, Mapped>(
  values: Readonly<Record<string, Value>>,
  map: (value: Value, key: string) => Mapped,
): Readonly<Record<string, Mapped>> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value, key)]));
}

/** The forms of errors at paths that do not use the errors of Skill Sharing. */
const errors: Readonly<Record<string, string>> = { "/rpc": "RpcError", "/mcp": "McpError" };

function refusalAt(path: string): JsonSchema {
  return {
    description: "The request is refused: 401 without a valid token, 429 over a limit, and so on.",
    content: { "application/json": { schema: toSchemaRef(errors[path] ?? "SharingError") } },
  };
}

function toSchemaRef(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

function strictObject(properties: JsonSchema, required = Object.keys(properties)): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

const rpcVersion = { const: "2.0" };
const rpcId = { type: ["string", "number", "null"] };

/** Creates the schemas of calls at `/rpc`: for each tool its input, its output and the request that calls it. */
function rpcSchemas(maxBatch: number): JsonSchema {
  const tools = toolDefinitions("json-schema");
  const schemas: Record<string, JsonSchema> = {};
  for (const { name, description, parameters, response } of tools) {
    schemas[`${name}.input`] = parameters;
    schemas[`${name}.output`] = response;
    const params = toSchemaRef(`${name}.input`);
    const properties = { jsonrpc: rpcVersion, id: rpcId, method: { const: name }, params };
    const required = ["jsonrpc", "method", ...((parameters.required ?? []).length > 0 ? ["params"] : [])];
    // Fields unknown to JSON-RPC are ignored.
    schemas[`${name}.call`] = { title: name, description, type: "object", properties, required };
  }
  const batchOf = (name: string): JsonSchema => ({
    oneOf: [toSchemaRef(name), { type: "array", items: toSchemaRef(name), minItems: 1, maxItems: maxBatch }],
  });
  const result = { anyOf: tools.map(({ name }) => toSchemaRef(`${name}.output`)) };
  return {
    ...schemas,
    RpcRequest: { oneOf: tools.map(({ name }) => toSchemaRef(`${name}.call`)) },
    RpcResult: strictObject({ jsonrpc: rpcVersion, id: rpcId, result }),
    RpcRequests: batchOf("RpcRequest"),
    RpcResponses: batchOf("RpcResponse"),
  };
}

/** Creates the schemas of documents of Skill Sharing, from those that also read the documents of other servers. */
function sharingSchemas(): JsonSchema {
  const registry = z.registry<{ readonly id: string }>();
  const documents = {
    SkillIndex: skillIndex,
    RegistryPage: registryPage,
    SkillDescriptor: skillDescriptor,
    AcceptedExecution: acceptedExecution,
    ExecutionStatus: executionStatus,
    ExecutionResult: executionResult,
    SharingError: sharingError,
  };
  for (const [id, schema] of Object.entries(documents)) registry.add(schema, { id });
  // The schemas are those for readers: documents may get further keys later.
  const { schemas } = z.toJSONSchema(registry, { io: "input", uri: (id) => toSchemaRef(id).$ref });
  const execute = toolDefinitions("json-schema", { tools: ["execute_skill"] })[0];
  const parameters = executionParameters.map((name) => [name, execute?.parameters.properties[name]]);
  return {
    // The dialect is that of the document, and `$id` would not be a valid URI.
    ...mapValues(schemas, (schema) =>
      Object.fromEntries(Object.entries(schema).filter(([name]) => name !== "$schema" && name !== "$id")),
    ),
    ExecutionRequest: strictObject(Object.fromEntries(parameters) as JsonSchema, []),
  };
}
