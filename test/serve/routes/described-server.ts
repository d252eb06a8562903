import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { toOpenApi } from "../../../src/serve/routes/openapi.ts";
import { defaultConfig } from "../../../src/serve/config.ts";

export interface OpenApiOperation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: { readonly const?: string };
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: object }>> }>
  >;
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

export function describeServer(): OpenApiDocument {
  return toOpenApi({
    baseUrl: "https://skills.example",
    version: "0.0.0",
    config: defaultConfig,
  }) as unknown as OpenApiDocument;
}

const documentId = "https://skills.example/openapi.json";

/** Validators of schemas of the document, whose references lead into it. */
export function openValidators(document: OpenApiDocument): (schema: object) => ValidateFunction {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: false });
  ajv.addKeyword({ keyword: "components" });
  ajv.addSchema({ $id: documentId, components: document.components });
  const compiled = new Map<object, ValidateFunction>();
  return (schema) => {
    let found = compiled.get(schema);
    if (found === undefined) {
      const text = JSON.stringify(schema).replaceAll('"#/components/', `"${documentId}#/components/`);
      compiled.set(schema, (found = ajv.compile(JSON.parse(text) as object)));
    }
    return found;
  };
}
