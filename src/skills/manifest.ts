import { isObject } from "../base/json/json-value.ts";
import { byCodePoint } from "../base/text/code-points.ts";
import type { Manifest } from "./manifest/manifest-schema.ts";

export { findFrontmatter, hasSourceOf, isYaml } from "./manifest/frontmatter.ts";
export type { Manifest } from "./manifest/manifest-schema.ts";
export { readHostCommands } from "./manifest/dynamic-commands.ts";
export { readYaml } from "./manifest/yaml.ts";

const loose = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;

export function isPrerelease(version: string): boolean {
  return version.includes("-") && loose.exec(version.trim())?.[4] !== undefined;
}

/**
 * Sorts newest first by Semantic Versioning precedence; `1.2` and `v1` count as `1.2.0` and `1.0.0`. Invalid versions
 * come last. Equal precedence is sorted by text, so that the order does not depend on the disk.
 */
export function byNewestVersion(a: string, b: string): number {
  const [left, right] = [loose.exec(a.trim()), loose.exec(b.trim())];
  if (!left || !right) return left ? -1 : right ? 1 : byCodePoint(a, b);
  for (let part = 1; part <= 3; part++) {
    const order = compareNumbers(right[part] ?? "0", left[part] ?? "0");
    if (order !== 0) return order;
  }
  return comparePrereleases(right[4], left[4]) || byCodePoint(a, b);
}

function comparePrereleases(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
  const [left, right] = [a.split("."), b.split(".")];
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const order = compareIdentifiers(left[index] ?? "", right[index] ?? "");
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Numeric identifiers are compared as numbers and precede alphanumeric ones. */
function compareIdentifiers(a: string, b: string): number {
  const [left, right] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (left && right) return compareNumbers(a, b);
  if (left !== right) return left ? -1 : 1;
  return byCodePoint(a, b);
}

/** Compares digit strings of any length exactly. */
function compareNumbers(a: string, b: string): number {
  const [left, right] = [a.replace(/^0+(?=\d)/, ""), b.replace(/^0+(?=\d)/, "")];
  return left.length - right.length || byCodePoint(left, right);
}

/** An argument declared in a manifest. */
export type DeclaredArgument = NonNullable<Manifest["inputs"]>[string];

/** Whether a value has the type of an argument. A blob is passed as its id, a string. */
export function isOfType(value: unknown, type: DeclaredArgument["type"]): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  return type === "object" ? isObject(value) : typeof value === (type === "blob" ? "string" : type);
}

/** Whether a value is one of the allowed values of an argument. */
export function isChoice(value: unknown, { enum: choices }: DeclaredArgument): boolean {
  return choices?.some((choice) => JSON.stringify(choice) === JSON.stringify(value)) ?? true;
}
