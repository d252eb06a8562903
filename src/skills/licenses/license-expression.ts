import { createRequire } from "node:module";
import type parse from "spdx-expression-parse";
import type { Info, LicenseInfo } from "spdx-expression-parse";

/** Longer texts are not parsed: the parser is recursive. */
const maxLength = 500;

/** An SPDX license expression in one spelling, such as `MIT OR Apache-2.0`; undefined if the text is none. Identifiers keep their case. */
export function toExpression(text: string): string | undefined {
  const tree = parseExpression(text);
  return tree === undefined ? undefined : print(tree);
}

/** The licenses that an expression names. */
export function termsOf(expression: string): readonly LicenseInfo[] {
  const tree = parseExpression(expression);
  return tree === undefined ? [] : leaves(tree);
}

/** The identifier without `-only`, `-or-later` and `+`. */
export function familyOf(id: string): string {
  return id.replace(/(?:-only|-or-later|\+)$/, "");
}

/** Loaded for the first license that is parsed. */
let parser: typeof parse | undefined;

function parseExpression(text: string): Info | undefined {
  const plain = text.trim().replace(/\s+/g, " ");
  // The parser skips other characters in places.
  if (plain.length > maxLength || !/^[A-Za-z0-9.+:() -]+$/.test(plain)) return undefined;
  parser ??= createRequire(import.meta.url)("spdx-expression-parse") as typeof parse;
  try {
    return parser(plain);
  } catch {
    return undefined; // Not an expression.
  }
}

function leaves(tree: Info): readonly LicenseInfo[] {
  return "conjunction" in tree ? [...leaves(tree.left), ...leaves(tree.right)] : [tree];
}

function print(tree: Info): string {
  if (!("conjunction" in tree)) return printTerm(tree);
  const side = (inner: Info): string =>
    tree.conjunction === "and" && "conjunction" in inner && inner.conjunction === "or"
      ? `(${print(inner)})`
      : print(inner);
  return `${side(tree.left)} ${tree.conjunction.toUpperCase()} ${side(tree.right)}`;
}

function printTerm({ license, plus, exception }: LicenseInfo): string {
  const suffix = plus !== true ? "" : /^(?:A|L)?GPL-\d/.test(license) ? "-or-later" : "+";
  return `${license}${suffix}${exception === undefined ? "" : ` WITH ${exception}`}`;
}
