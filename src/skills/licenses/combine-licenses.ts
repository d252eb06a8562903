import { byCodePoint } from "../../base/text/code-point-order.ts";
import { familyOf, termsOf } from "./license-expression.ts";

/**
 * One expression for what the files of a skill say; undefined if they say nothing. Several licenses are joined by AND, because no file says
 * that one may choose. A file that says less than another about the same license adds nothing, nor does the GPL beside the LGPL, which
 * includes it by reference.
 */
export function combineLicenses(licenses: readonly string[]): string | undefined {
  const distinct = [...new Set(licenses)];
  const kept = distinct.filter(
    (license) => !distinct.some((other) => other !== license && (saysMore(other, license) || includes(other, license))),
  );
  if (kept.length < 2) return kept[0];
  return kept
    .sort(byCodePoint)
    .map((license) => (/ OR /.test(license) ? `(${license})` : license))
    .join(" AND ");
}

/** Whether files say something else than what is stated: a license that the stated expression does not name. */
export function contradicts(stated: string, found: string): boolean {
  const named = termsOf(stated).map(({ license }) => license);
  return termsOf(found).some(({ license }) => !named.some((name) => mayBeSame(name, license)));
}

/** `GPL-3.0` may be either of `GPL-3.0-only` and `GPL-3.0-or-later`, which differ. */
function mayBeSame(a: string, b: string): boolean {
  return a === b || a === familyOf(b) || b === familyOf(a);
}

function saysMore(license: string, other: string): boolean {
  return license !== other && familyOf(license) === other;
}

function includes(license: string, other: string): boolean {
  return license.startsWith("LGPL-3.0") && familyOf(other) === "GPL-3.0";
}
