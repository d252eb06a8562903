/** A JSON Schema (2020-12), or a part of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

export function toSchemaRef(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

export function strictObject(properties: Readonly<Record<string, unknown>>, required = Object.keys(properties)): Json {
  return { type: "object", properties, required, additionalProperties: false };
}
