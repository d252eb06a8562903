import type { Info, LicenseInfo } from "spdx-expression-parse";
import { parseLicense } from "../../../skills/licenses.ts";

/**
 * Which licenses a policy allows and denies: SPDX identifiers, also with `WITH` an exception; `LicenseRef-…`; `unknown` for what nobody
 * recognizes, and `unspecified` where nothing is stated. `GPL-3.0` stands for -only and -or-later as well. What is in both lists is denied.
 * Without `allowed`, everything else is allowed.
 */
export interface LicenseLists {
  readonly allowed?: readonly string[] | undefined;
  readonly denied?: readonly string[] | undefined;
}

/**
 * Why the lists deny a license, as the end of a sentence that starts with "The policy"; undefined if they allow it. Takes an SPDX
 * expression, `unknown` or `unspecified`. Of `A OR B`, one must be allowed; of `A AND B`, both.
 */
export function judgeLicense(license: string, lists: LicenseLists): string | undefined {
  if (license === "unknown" || license === "unspecified") return judgeWord(license, lists);
  const tree = parseLicense(license);
  return tree === undefined ? judgeWord("unknown", lists) : judgeTree(tree, lists);
}

function judgeWord(word: "unknown" | "unspecified", { allowed, denied = [] }: LicenseLists): string | undefined {
  const what = word === "unknown" ? "licenses that are not recognized" : "skills without a license";
  if (denied.includes(word)) return `denies ${what}`;
  return allowed === undefined || allowed.includes(word) ? undefined : `does not allow ${what}`;
}

function judgeTree(tree: Info, lists: LicenseLists): string | undefined {
  if (!("conjunction" in tree)) return judgeTerm(tree, lists);
  const left = judgeTree(tree.left, lists);
  if (tree.conjunction === "or" && left === undefined) return undefined;
  if (tree.conjunction === "and" && left !== undefined) return left;
  const right = judgeTree(tree.right, lists);
  return tree.conjunction === "and" || right === undefined ? right : `${left} and ${right}`;
}

/** An exception only permits more: the license decides, unless a list names it with the exception. */
function judgeTerm(
  { license, plus, exception }: LicenseInfo,
  { allowed, denied = [] }: LicenseLists,
): string | undefined {
  const id = plus === true ? `${license}+` : license;
  const whole = exception === undefined ? id : `${id} WITH ${exception}`;
  const isExcepted = exception !== undefined && allowed !== undefined && has(allowed, whole);
  if (has(denied, whole) || (mayMean(denied, id) && !isExcepted)) return `denies the license ${whole}`;
  if (allowed === undefined || isExcepted || means(allowed, id)) return undefined;
  return `does not allow the license ${whole}`;
}

/** Whether a list has everything that an identifier may mean. */
function means(list: readonly string[], id: string): boolean {
  const forms = formsOf(id);
  const hasForms = forms.length > 0 && forms.every((form) => has(list, form));
  return has(list, id) || has(list, familyOf(id)) || hasForms;
}

/** Whether a list has anything that an identifier may mean. */
function mayMean(list: readonly string[], id: string): boolean {
  return has(list, id) || has(list, familyOf(id)) || formsOf(id).some((form) => has(list, form));
}

/** Of a GNU license that does not say whether later versions may be chosen: both forms. */
function formsOf(id: string): readonly string[] {
  return /^[AL]?GPL-\d\.\d$/.test(id) ? [`${id}-only`, `${id}-or-later`] : [];
}

function has(list: readonly string[], id: string): boolean {
  return list.some((entry) => toKey(entry) === toKey(id));
}

/** `GPL-3.0+` is `GPL-3.0-or-later`. */
function toKey(id: string): string {
  return id.toLowerCase().replace(/^([al]?gpl-\d\.\d)\+/, "$1-or-later");
}

function familyOf(id: string): string {
  return id.replace(/(?:-only|-or-later|\+)$/, "");
}
