import type { core } from "zod";

const formats: Readonly<Record<string, string>> = {
  name: "lowercase letters and digits in segments joined by dots",
  namespace: "lowercase letters and digits in segments joined by dots",
  version: "a semantic version",
};

const types: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "a table",
  record: "a table",
  string: "a string",
};

/** Why a value of a manifest is invalid, as the rest of a sentence that starts with its name. */
export function manifestReason(name: string, value: unknown, issue: core.$ZodIssue): string {
  const shown = JSON.stringify(value);
  switch (issue.code) {
    case "invalid_type":
      return `is ${shown}, not ${types[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `is ${shown}, not ${issue.values.map((allowed) => JSON.stringify(allowed)).join(" or ")}`;
    case "invalid_format":
      return `is ${shown}, not ${formats[name] ?? "in the required format"}`;
    case "too_small":
      return issue.origin === "string" ? "is empty" : `is ${shown}; the minimum is ${issue.minimum}`;
    case "too_big":
      return `is ${shown}; the maximum is ${issue.maximum}`;
    case "not_multiple_of":
    case "unrecognized_keys":
    case "invalid_union":
    case "invalid_key":
    case "invalid_element":
    case "custom":
      return `is ${shown}, which is invalid`;
  }
}
