import { toolDefinitions } from "../../../runtime/tools.ts";
import { type JsonSchema, strictObject, toSchemaRef } from "./json-schema.ts";

const rpcVersion = { const: "2.0" };
const rpcId = { type: ["string", "number", "null"] };

/** Calls of the tools at `/rpc` (CONTRACT C-2.2): for each tool its input, its output and the request that calls it. */
export function rpcSchemas(maxBatch: number): Readonly<Record<string, JsonSchema>> {
  const tools = toolDefinitions("json-schema");
  const schemas: Record<string, JsonSchema> = {};
  for (const { name, description, parameters, response } of tools) {
    schemas[`${name}.input`] = parameters;
    schemas[`${name}.output`] = response;
    const properties = {
      jsonrpc: rpcVersion,
      id: rpcId,
      method: { const: name },
      params: toSchemaRef(`${name}.input`),
    };
    const required = ["jsonrpc", "method", ...((parameters.required ?? []).length > 0 ? ["params"] : [])];
    schemas[`${name}.call`] = { title: name, description, ...strictCall(properties, required) };
  }
  const batchOf = (name: string): JsonSchema => ({
    oneOf: [toSchemaRef(name), { type: "array", items: toSchemaRef(name), minItems: 1, maxItems: maxBatch }],
  });
  return {
    ...schemas,
    RpcRequest: { oneOf: tools.map(({ name }) => toSchemaRef(`${name}.call`)) },
    RpcResult: strictObject({
      jsonrpc: rpcVersion,
      id: rpcId,
      result: { anyOf: tools.map(({ name }) => toSchemaRef(`${name}.output`)) },
    }),
    RpcError: strictObject({ jsonrpc: rpcVersion, id: rpcId, error: toSchemaRef("WireError") }),
    RpcResponse: { oneOf: [toSchemaRef("RpcResult"), toSchemaRef("RpcError")] },
    RpcRequests: batchOf("RpcRequest"),
    RpcResponses: batchOf("RpcResponse"),
    WireError: wireError,
  };
}

/** Members that JSON-RPC does not know are ignored. */
function strictCall(properties: JsonSchema, required: readonly string[]): JsonSchema {
  return { type: "object", properties, required };
}

/** CONTRACT C-2.3. */
const wireError: JsonSchema = strictObject({
  code: { enum: [-32700, -32600, -32601, -32602, -32603, -32001, -32000] },
  message: { type: "string" },
  data: strictObject(
    {
      code: { type: "string", description: "What to switch on: a stable code such as SKILL_NOT_FOUND." },
      hint: { type: "string" },
      available: { type: "array", items: { type: "string" }, maxItems: 10 },
      violations: {
        type: "array",
        items: strictObject({ field: { type: "string" }, expected: { type: "string" }, actual: {} }, [
          "field",
          "expected",
        ]),
      },
      limit: { type: "string" },
      error_id: { type: "string" },
      retryable: { type: "boolean" },
    },
    ["code", "retryable"],
  ),
});
