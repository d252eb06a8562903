/** A JSON Schema (2020-12), or a part of an OpenAPI document. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export function toSchemaRef(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

export function strictObject(
  properties: Readonly<Record<string, unknown>>,
  required = Object.keys(properties),
): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}
