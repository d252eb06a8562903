import { nearest } from "../text/nearest.ts";
import { type JsonNode, type JsonPath, childOf, nodeAt } from "./json-text.ts";

/** What a schema finds wrong with a value: an issue of zod, which this room does not load. */
export interface SchemaIssue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  /** The schema's own message, if it has one: what is expected, or, in two lines, what is wrong and what to do. */
  readonly message: string;
  readonly keys?: readonly string[];
  readonly values?: readonly unknown[];
  readonly expected?: string;
  readonly origin?: string;
  readonly minimum?: number | bigint;
  readonly maximum?: number | bigint;
}

/** The part of a JSON Schema that says which keys there are. */
export interface KnownKeys {
  readonly properties?: Readonly<Record<string, KnownKeys>>;
  readonly items?: KnownKeys;
}

/** An issue for people, with its place in the text. Message and fix are sentences; the message has no full stop. */
export interface SchemaFault {
  readonly kind: "key-unknown" | "key-missing" | "value-invalid";
  readonly place: { readonly offset: number; readonly end: number };
  readonly message: string;
  readonly fix: string;
}

/** Says where in a file each issue is, and what to do. */
export function toSchemaFaults(
  issues: readonly SchemaIssue[],
  root: JsonNode,
  known: () => KnownKeys,
): readonly SchemaFault[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
    return issue.code === "unrecognized_keys"
      ? unknownKeys(issue.keys ?? [], path, root, known())
      : [valueFault(issue, path, root)];
  });
}

function unknownKeys(
  keys: readonly string[],
  path: JsonPath,
  root: JsonNode,
  known: KnownKeys,
): readonly SchemaFault[] {
  const node = nodeAt(root, path);
  let here: KnownKeys | undefined = known;
  for (const step of path) here = typeof step === "number" ? here?.items : here?.properties?.[step];
  const names = Object.keys(here?.properties ?? {}).filter((name) => !name.startsWith("$"));
  return keys.map((key) => {
    const entry = node.type === "object" ? node.entries.find((one) => one.key === key) : undefined;
    const [close] = nearest(key, names);
    const where = path.length === 0 ? "" : ` in ${shownPath(path)}`;
    return {
      kind: "key-unknown",
      place: entry ?? node,
      message: `unknown key ${JSON.stringify(key.slice(0, 128))}${where}`,
      fix: close === undefined ? `Use one of ${names.join(", ")}.` : `Did you mean "${close}"?`,
    };
  });
}

function valueFault(issue: SchemaIssue, path: JsonPath, root: JsonNode): SchemaFault {
  const place = nodeAt(root, path);
  const last = path.at(-1);
  const parent = nodeAt(root, path.slice(0, -1));
  if (last !== undefined && childOf(parent, last) === undefined) {
    const message = `${shownPath(path)} is missing`;
    return { kind: "key-missing", place, message, fix: `Add "${last}"${expectedOf(issue)}.` };
  }
  return { kind: "value-invalid", place, ...sayValue(issue, shownPath(path), place) };
}

function sayValue(
  { code, message, values = [], expected = "", origin, minimum, maximum }: SchemaIssue,
  name: string,
  node: JsonNode,
): { readonly message: string; readonly fix: string } {
  const [what = "", fix] = message.split("\n");
  if (fix !== undefined) return { message: what, fix };
  if (code === "invalid_type")
    return { message: `${name} is ${article(expected)}`, fix: `Write ${article(expected)}.` };
  if (code === "invalid_value") return sayChoice(values, name, node);
  const limit = Number(code === "too_small" ? minimum : maximum);
  const isAtLeast = code === "too_small";
  if (code !== "too_small" && code !== "too_big")
    return { message: `invalid value of ${name}`, fix: `Write ${message}.` };
  if (origin === "array")
    return {
      message: `${name} has more than ${limit} entries`,
      fix: "Use fewer, for example patterns instead of names.",
    };
  if (origin === "string") {
    if (isAtLeast) return { message: `${name} is empty`, fix: "Write a text, or remove it." };
    return { message: `${name} is longer than ${limit} characters`, fix: "Shorten it." };
  }
  const bound = isAtLeast ? "at least" : "at most";
  return { message: `${name} is ${bound} ${limit}`, fix: `Write a whole number of ${bound} ${limit}.` };
}

function sayChoice(
  values: readonly unknown[],
  name: string,
  node: JsonNode,
): { readonly message: string; readonly fix: string } {
  const choices = values.map((value) => JSON.stringify(value)).join(" or ");
  const given = node.type === "scalar" && typeof node.value === "string" ? node.value : undefined;
  const texts = values.filter((value) => typeof value === "string");
  const [close] = given === undefined ? [] : nearest(given, texts);
  return {
    message: `${name} is ${choices}`,
    fix: close === undefined ? `Write ${choices}.` : `Did you mean "${close}"?`,
  };
}

function expectedOf({ code, expected = "" }: SchemaIssue): string {
  return code === "invalid_type" ? `, ${article(expected)}` : "";
}

function article(type: string): string {
  if (type === "int" || type === "number") return "a whole number";
  if (type === "array") return "a list, [ … ]";
  if (type === "object" || type === "record") return 'an object, { "key": value }';
  return type === "string" ? "a text in quotes" : `a ${type}`;
}

/** `callers[0].limits`; the file for no path. */
function shownPath(path: JsonPath): string {
  const text = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step.slice(0, 128)}`)).join("");
  return text === "" ? "the file" : text.replace(/^\./, "");
}
