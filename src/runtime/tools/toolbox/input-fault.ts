import type * as z from "zod";
import type { SkillsError } from "../../../base/errors.ts";
import {
  truncateText,
  invalidInput,
  maxViolations,
  noSuchParameter,
  shown,
} from "../../../base/failures/invalid-input.ts";
import { asAvailable, nearest } from "../../../base/text/nearest.ts";
import type { Tool } from "../tool.ts";

/** Creates the VALIDATION_ERROR for refused arguments, with the first 20 violations. `issues`: those that the schema found. */
export function inputFault(
  { name, input }: Pick<Tool, "name" | "input">,
  args: unknown,
  issues: readonly z.core.$ZodIssue[],
): SkillsError {
  if (typeof args !== "object" || args === null || Array.isArray(args))
    return invalidInput(name, [{ field: "", expected: "an object of parameters", actual: shown(args) }]);
  // A message can have a million unknown keys.
  const unknown = issues
    .slice(0, maxViolations)
    .flatMap((issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys.slice(0, maxViolations).map((key) => ({ inside: issue.path, key }))
        : [],
    );
  const violations = [
    ...unknown.map(({ inside, key }) => ({
      field: pointer([...inside, key]),
      expected: noSuchParameter,
      actual: shown(at(args, [...inside, key])),
    })),
    ...issues
      .filter(({ code }) => code !== "unrecognized_keys")
      .slice(0, maxViolations)
      .map((issue) => ({
        field: pointer(issue.path),
        expected: expectedBy(issue),
        actual: shown(at(args, issue.path)),
      })),
  ];
  const [first] = unknown;
  if (first === undefined) return invalidInput(name, violations);
  const parameters = parametersOf(input, first.inside);
  const lacks = (key: string): boolean =>
    violations.some(({ field, actual }) => actual === null && field === pointer([...first.inside, key]));
  return invalidInput(name, violations, nearestTo(first.key, parameters, parameters.filter(lacks)));
}

/** Suggests a parameter: a misspelt one first, then one that the call lacks, then the one with the most similar name. */
function nearestTo(key: string, parameters: readonly string[], missing: readonly string[]) {
  if (parameters.length === 0) return { hint: "It takes no parameters.", available: [] };
  const available = nearest(key, parameters, asAvailable);
  const [meant = ""] = [...nearest(key, parameters), ...nearest(key, missing, asAvailable), ...available];
  return { hint: `Did you mean ${meant}?`, available: [...new Set([meant, ...available])].slice(0, asAvailable.count) };
}

/** Lists the valid property names of an object at one path of the input. */
function parametersOf(input: unknown, inside: readonly PropertyKey[]): string[] {
  const shape = inside.reduce<unknown>((outer, key) => at(shapeOf(outer), [key]), input);
  return Object.keys(shapeOf(shape));
}

function shapeOf(schema: unknown): object {
  if (typeof schema !== "object" || schema === null) return {};
  if ("shape" in schema && typeof schema.shape === "object" && schema.shape !== null) return schema.shape;
  return "unwrap" in schema && typeof schema.unwrap === "function"
    ? shapeOf((schema as { unwrap: () => unknown }).unwrap())
    : {};
}

const kinds: Readonly<Record<string, string>> = {
  string: "a string",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "an array",
};

function expectedBy(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_value") return `one of ${issue.values.map(String).join(", ")}`;
  // A schema may state its expectation as the message.
  return (issue.code === "invalid_type" ? kinds[issue.expected] : undefined) ?? issue.message;
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Record<PropertyKey, unknown>)[key]
        : undefined,
    value,
  );
}

/** Writes a JSON pointer; long names are truncated like other untrusted text. */
function pointer(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${truncateText(String(key)).replace(/~/g, "~0").replace(/\//g, "~1")}`).join("");
}
