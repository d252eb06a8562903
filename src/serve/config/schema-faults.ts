import type { core } from "zod";
import { type JsonNode, type JsonPath, childOf, nodeAt } from "../../base/json/json-text.ts";
import { nearest } from "../../base/text/nearest.ts";

/** The piece of a JSON Schema that defines the known keys. */
export interface KnownKeys {
  readonly properties?: Readonly<Record<string, KnownKeys>>;
  readonly items?: KnownKeys;
}

/** An issue as the user reads it, with its range in the text. Message and fix are sentences; the message has no full stop. */
export interface SchemaFault {
  readonly kind: "key-unknown" | "key-missing" | "value-invalid";
  readonly range: { readonly offset: number; readonly end: number };
  readonly message: string;
  readonly fix: string;
}

/** Finds the range of each schema issue in a file, and describes it and its fix. */
export function toSchemaFaults(
  issues: readonly core.$ZodIssue[],
  root: JsonNode,
  known: () => KnownKeys,
): readonly SchemaFault[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
    return issue.code === "unrecognized_keys"
      ? unknownKeys(issue.keys, path, root, known())
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
  const where = path.length === 0 ? "" : ` in ${shownPath(path)}`;
  return keys.map((key) => ({
    kind: "key-unknown",
    range: (node.type === "object" ? node.entries.find((one) => one.key === key) : undefined) ?? node,
    message: `unknown key ${JSON.stringify(key.slice(0, 128))}${where}`,
    fix: guess(key, names) ?? `Use one of ${names.join(", ")}.`,
  }));
}

function valueFault(issue: core.$ZodIssue, path: JsonPath, root: JsonNode): SchemaFault {
  const node = nodeAt(root, path);
  const last = path.at(-1);
  if (last !== undefined && childOf(nodeAt(root, path.slice(0, -1)), last) === undefined) {
    const fix = `Add "${last}": ${expectedBy(issue)}.`;
    return { kind: "key-missing", range: node, message: `${shownPath(path)} is missing`, fix };
  }
  const [message = "", fix] = issue.message.split("\n");
  if (fix !== undefined) return { kind: "value-invalid", range: node, message, fix };
  const choices = issue.code === "invalid_value" ? issue.values.filter((value) => typeof value === "string") : [];
  const close = node.type === "scalar" && typeof node.value === "string" ? guess(node.value, choices) : undefined;
  const what = `invalid value of ${shownPath(path)}`;
  return { kind: "value-invalid", range: node, message: what, fix: close ?? `Write ${expectedBy(issue)}.` };
}

function guess(text: string, names: readonly string[]): string | undefined {
  const [close] = nearest(text, names);
  return close === undefined ? undefined : `Did you mean "${close}"?`;
}

/** Returns the value that an issue expects, or the schema's own message. */
function expectedBy(issue: core.$ZodIssue): string {
  if (issue.code === "invalid_type") return kinds[issue.expected] ?? issue.expected;
  if (issue.code === "invalid_value") return issue.values.map((value) => JSON.stringify(value)).join(" or ");
  if (issue.code !== "too_small" && issue.code !== "too_big") return issue.message;
  const unit = issue.origin === "array" ? " entries" : issue.origin === "string" ? " characters" : "";
  return issue.code === "too_small" ? `${issue.minimum} or more${unit}` : `at most ${issue.maximum}${unit}`;
}

const kinds: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a whole number",
  array: "a list, [ … ]",
  object: 'an object, { "key": value }',
  string: "a text in quotes",
};

/** Formats a path: `callers[0].limits`; "the file" for an empty one. */
function shownPath(path: JsonPath): string {
  const text = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step.slice(0, 128)}`)).join("");
  return text === "" ? "the file" : text.replace(/^\./, "");
}
