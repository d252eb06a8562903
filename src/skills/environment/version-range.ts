/*
 * Versions as programs print them and people require them. Not semver: `3.10` is no semantic version, and loading a library would delay the
 * first list of skills.
 */

const number = String.raw`\d{1,6}(?:\.\d{1,6}){0,3}`;
const single = new RegExp(String.raw`^(>=|≥|=>|>|<=|≤|<|===?|=|~=|\^|~)? ?v?(${number})(\+|\.x|\.\*)?$`);

/** Whether a found version is in a range. `newer`: a range that names one version, such as `3.10`, may also mean later ones. */
export type Fit = "yes" | "no" | "newer";

/**
 * A range in canonical form: `>=3.10`, `<4`, `^18`, `~1.2`, or a version alone; several joined by commas. Reads `3.10+`, `≥ 18`, `v20.x`
 * and `==1.2`. Undefined if the text is anything else.
 */
export function readRange(text: string): string | undefined {
  if (text.length > 100) return undefined;
  const parts = text.split(",").map((part) => readSingle(part.replace(/\s+/g, " ").trim()));
  return parts.every((part) => part !== undefined) ? parts.join(",") : undefined;
}

function readSingle(text: string): string | undefined {
  const [, operator = "", version, suffix] = single.exec(text) ?? [];
  if (version === undefined) return undefined;
  if (suffix === "+") return operator === "" ? `>=${version}` : undefined;
  if (suffix !== undefined) return operator === "" || operator.startsWith("=") ? `=${version}` : undefined;
  switch (operator) {
    case "≥":
    case "=>":
      return `>=${version}`;
    case "≤":
      return `<=${version}`;
    case "==":
    case "===":
      return `=${version}`;
    case "~=":
      // At least this version, with all but the last number fixed.
      return version.includes(".") ? `>=${version},=${version.slice(0, version.lastIndexOf("."))}` : undefined;
    default:
      return `${operator}${version}`;
  }
}

/** Whether a version, such as `3.11.2`, is in a range of {@link readRange}. */
export function fitOf(version: string, range: string): Fit {
  const fits = range.split(",").map((part) => fitOfSingle(numbersOf(version), part));
  return fits.find((fit) => fit === "no") ?? fits.find((fit) => fit === "newer") ?? "yes";
}

function fitOfSingle(version: readonly number[], part: string): Fit {
  const [operator = ""] = /^[<>=^~]*/.exec(part) ?? [];
  const wanted = numbersOf(part.slice(operator.length));
  const order = compare(version, wanted);
  const isSame = wanted.every((value, index) => (version[index] ?? 0) === value);
  const is = (fits: boolean): Fit => (fits ? "yes" : "no");
  switch (operator) {
    case ">=":
      return is(order >= 0);
    case ">":
      // `>3.10` is not met by 3.10.4, as in Python's rules.
      return is(order > 0 && !isSame);
    case "<=":
      return is(order <= 0 || isSame);
    case "<":
      return is(order < 0);
    case "=":
      return is(isSame);
    case "~":
      return is(order >= 0 && wanted.slice(0, 2).every((value, index) => (version[index] ?? 0) === value));
    case "^": {
      // The first number that is not 0 must be the same.
      const fixed = wanted.findIndex((value) => value !== 0);
      const prefix = wanted.slice(0, fixed === -1 ? wanted.length : fixed + 1);
      return is(order >= 0 && prefix.every((value, index) => (version[index] ?? 0) === value));
    }
    default:
      return isSame ? "yes" : order > 0 ? "newer" : "no";
  }
}

function numbersOf(version: string): readonly number[] {
  return version.split(".").map(Number);
}

/** Missing numbers count as 0. */
function compare(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The first version in what a program printed; undefined if there is none. Java calls its version 8 `1.8.0`. */
export function findVersion(output: string): string | undefined {
  const text = output.slice(0, 2000);
  const java = /^(?:java|openjdk) (?:version )?"?(?:1\.)?(\d{1,6}(?:\.\d{1,6}){0,3})/m.exec(text)?.[1];
  return java ?? /(?<![\w.-])(?:v|n|go|jq-)?(\d{1,6}(?:\.\d{1,6}){1,3})/.exec(text)?.[1];
}
