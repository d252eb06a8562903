import * as fc from "fast-check";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

type Schemas = Readonly<Record<string, object>>;

/** Texts that mean something to the server, and texts that programs stumble over. */
const texts = ["alpha", "sum.up", "SKILL.md", "summary", "full", "python", "text/plain", "a".repeat(65), "__proto__"];
const oddTexts = ["", "\0", "\ud800", "\u202e\u2066x", "é", "e\u0301", "\r\nX: 1", "../etc/passwd", "%2e%2e%2f", "𝕊🧨"];
const text = fc.oneof(
  fc.constantFrom(...texts),
  fc.constantFrom(...oddTexts),
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 20 }),
);

/** Values for a JSON Schema, of the keywords that our document uses. Patterns are not followed: those values are refused, too. */
export function arbitraryOf(schema: object, schemas: Schemas, depth = 3): fc.Arbitrary<unknown> {
  const given: Schema = schema;
  const of = (part: Schema): fc.Arbitrary<unknown> => arbitraryOf(part, schemas, depth - 1);
  if (given.$ref !== undefined) return arbitraryOf(schemas[given.$ref.split("/").at(-1)!]!, schemas, depth);
  if ("const" in given) return fc.constant(given.const);
  if (given.examples) {
    const { examples, ...rest } = given;
    return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...examples) }, of(rest));
  }
  if (given.enum) return fc.constantFrom(...given.enum);
  const alternatives = given.oneOf ?? given.anyOf;
  if (alternatives) return fc.oneof(...alternatives.map((part) => arbitraryOf(part, schemas, depth)));
  const types = given.type === undefined ? ["anything"] : [given.type].flat();
  return fc.oneof(...types.map((type) => ofType(type, given, of, depth)));
}

function ofType(
  type: string,
  schema: Schema,
  of: (part: Schema) => fc.Arbitrary<unknown>,
  depth: number,
): fc.Arbitrary<unknown> {
  const { minimum = -(2 ** 31), maximum = 2 ** 31 } = schema;
  switch (type) {
    case "string":
      return text.map((value) => value.slice(0, schema.maxLength).padEnd(schema.minLength ?? 0, "x"));
    case "integer":
      return fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31) });
    case "number":
      return fc.oneof(fc.integer({ min: -10, max: 100 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return depth < 0
        ? fc.constant([])
        : fc.array(of(schema.items ?? {}), {
            minLength: schema.minItems ?? 0,
            maxLength: Math.min(schema.maxItems ?? 4, 4),
          });
    case "object": {
      const known = Object.entries(schema.properties ?? {}).map(([name, part]) => [name, of(part)] as const);
      const object = fc.record(Object.fromEntries(known), { requiredKeys: (schema.required ?? []) as [] });
      if (schema.additionalProperties === false || known.length > 0 || depth < 0) return object;
      return fc.dictionary(
        text,
        typeof schema.additionalProperties === "object" ? of(schema.additionalProperties) : json,
        {
          maxKeys: 3,
        },
      );
    }
    default:
      return json;
  }
}

const json = fc.jsonValue({ maxDepth: 2 });

/** JSON text of a value, as it is or broken in one way. */
export function arbitraryText(value: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const breakings: fc.Arbitrary<(value: unknown) => string>[] = [
    fc.constant((given: unknown) => toText(given)),
    fc.tuple(fc.nat(), json).map(
      ([at, other]) =>
        (given: unknown) =>
          toText(replaceAt(given, at, () => other)),
    ),
    fc.nat().map((at) => (given: unknown) => toText(replaceAt(given, at, () => undefined))),
    fc.tuple(text, json).map(
      ([name, other]) =>
        (given: unknown) =>
          toText(withKey(given, name, other)),
    ),
    fc.nat().map((at) => (given: unknown) => toText(replaceAt(given, at, () => "x".repeat(200_000)))),
    fc.constant((given: unknown) => deepen(toText(given), "[", "]")),
    fc
      .nat()
      .map(
        (at) => (given: unknown) => toText(replaceAt(given, at, () => "@@")).replace('"@@"', deepen("1", '{"a":', "}")),
      ),
    fc.nat(40).map((end) => (given: unknown) => toText(given).slice(0, end)),
    fc.constantFrom("\ufeff", "\0", "//", " ").map((start) => (given: unknown) => start + toText(given)),
    fc.constant((given: unknown) => toText(given).replace("{", '{"jsonrpc":"1.0","__proto__":{"a":1},')),
    fc.constant((given: unknown) => toText(given).replaceAll(/\d+/g, "1e400")),
  ];
  return fc.tuple(value, fc.oneof(...breakings)).map(([given, write]) => write(given));
}

function toText(value: unknown): string {
  return JSON.stringify(value);
}

const levels = 10_000;

/** `text` inside of more levels than a recursive function can follow. */
export function deepen(text: string, start: string, end: string): string {
  return start.repeat(levels) + text + end.repeat(levels);
}

/** A copy in which one of the parts, chosen by `at`, is another value; without it where that is undefined. */
function replaceAt(value: unknown, at: number, replace: () => unknown): unknown {
  const parts: { holder: Record<string, unknown>; key: string }[] = [];
  const copy = { root: structuredClone(value) };
  const collect = (holder: Record<string, unknown>): void => {
    for (const [key, part] of Object.entries(holder)) {
      parts.push({ holder, key });
      if (typeof part === "object" && part !== null) collect(part as Record<string, unknown>);
    }
  };
  collect(copy);
  const chosen = parts[at % parts.length]!;
  chosen.holder[chosen.key] = replace();
  return copy.root;
}

function withKey(value: unknown, name: string, other: unknown): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? { ...value, [name]: other }
    : { [name]: value };
}
