import * as z from "zod";
import {
  acceptedExecution,
  executionResult,
  executionStatus,
  registryPage,
  sharingError,
  skillDescriptor,
  skillIndex,
} from "../../../wire/skill-sharing.ts";
import { toolDefinitions } from "../../../runtime/tools.ts";
import { executionParameters } from "../../publish.ts";
import { type JsonSchema, strictObject, toSchemaRef } from "./json-schema.ts";

/** The documents of Skill Sharing, from the schemas that also read those of others. */
export function sharingSchemas(): Readonly<Record<string, JsonSchema>> {
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
  // As for readers: keys may be added to documents later.
  const { schemas } = z.toJSONSchema(registry, { io: "input", uri: (id) => String(toSchemaRef(id).$ref) });
  return {
    ...Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, withoutIds(schema)])),
    ExecutionRequest: executionRequest(),
    AgentSkillsIndex: agentSkillsIndex,
    Health: strictObject({ status: { enum: ["ok", "not ready"] }, reason: { type: "string" } }, ["status"]),
  };
}

/** The dialect is that of the document; `$id` would be none that a URI can have. */
function withoutIds(schema: z.core.JSONSchema.BaseSchema): JsonSchema {
  const copy = { ...schema };
  delete copy.$schema;
  delete copy.$id;
  return copy;
}

/** Of `execute_skill`, what an invocation may say. */
function executionRequest(): JsonSchema {
  const tool = toolDefinitions("json-schema", { tools: ["execute_skill"] })[0];
  const properties = executionParameters.map((name) => [name, tool?.parameters.properties[name]]);
  return strictObject(Object.fromEntries(properties) as JsonSchema, []);
}

const agentSkillsIndex: JsonSchema = strictObject({
  $schema: { type: "string" },
  skills: {
    type: "array",
    items: strictObject({
      name: { type: "string", pattern: "^[a-z0-9-]{1,64}$" },
      type: { enum: ["skill-md", "archive"] },
      description: { type: "string", maxLength: 1_024 },
      url: { type: "string" },
      digest: { type: "string", pattern: "^sha256:[0-9a-f]{64}$" },
    }),
  },
});
