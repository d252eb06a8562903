import { isBlobId } from "../../blobs/blob-arguments.ts";
import type { Json } from "../../sandbox/sandbox.ts";
import { isChoice, isOfType } from "../../skills/manifest/argument-type.ts";
import type { DeclaredArgument } from "../../skills/manifest/argument-type.ts";
import type { Manifest } from "../../skills/manifest/manifest.ts";
import { asAvailable, nearest } from "../../base/nearest.ts";
import { invalidInput, shown } from "../../base/invalid-input.ts";
import type { Violation } from "../../base/invalid-input.ts";

export type Arguments = Readonly<Record<string, Json>>;

interface Checked {
  /** With the manifest's defaults filled in. */
  readonly args: Arguments;
  /** Ids that an argument of type `blob` names. */
  readonly blobs: readonly string[];
}

/** Holds arguments against the `inputs` of a manifest (CONTRACT C-1.4). Throws VALIDATION_ERROR that lists every violation. */
export function checkArgs(tool: string, args: Arguments, inputs: Manifest["inputs"]): Checked {
  if (inputs === undefined) return { args, blobs: [] };
  const declared = Object.entries(inputs);
  const names = declared.map(([name]) => name);
  const unknown = Object.keys(args).filter((name) => !Object.hasOwn(inputs, name));
  const violations: Violation[] = unknown.map((name) => ({
    field: pointer(name),
    expected: `one of the skill's inputs: ${names.slice(0, maxNamed).join(", ") || "it has none"}`,
    actual: shown(args[name]),
  }));
  const whole: [string, Json][] = [];
  const blobs: string[] = [];
  for (const [name, argument] of declared) {
    const { type, required = false, default: preset, enum: choices = [] } = argument;
    const value = Object.hasOwn(args, name) ? args[name] : (preset as Json | undefined);
    if (value === undefined) {
      if (required) violations.push({ field: pointer(name), expected: typeWords[type], actual: null });
      continue;
    }
    whole.push([name, value]);
    if (!fits(value, type)) violations.push({ field: pointer(name), expected: typeWords[type], actual: shown(value) });
    else if (!isChoice(value, argument)) {
      const expected = `one of ${choices.map((choice) => JSON.stringify(choice)).join(", ")}`;
      violations.push({ field: pointer(name), expected, actual: shown(value) });
    } else if (type === "blob" && typeof value === "string") blobs.push(value);
  }
  if (violations.length === 0) return { args: Object.fromEntries(whole), blobs };
  const [misspelt] = unknown;
  const available = misspelt === undefined ? [] : nearest(misspelt, names, asAvailable);
  const near = available[0] === undefined ? {} : { hint: `Did you mean ${available[0]}?`, available };
  throw invalidInput(tool, violations, near);
}

const maxNamed = 10;

const typeWords: Readonly<Record<DeclaredArgument["type"], string>> = {
  string: "a string",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
  blob: "the id of a blob, such as create_blob gives",
};

function fits(value: Json, type: DeclaredArgument["type"]): boolean {
  return type === "blob" ? typeof value === "string" && isBlobId(value) : isOfType(value, type);
}

function pointer(name: string): string {
  return `/args/${name.replace(/~/g, "~0").replace(/\//g, "~1")}`;
}
