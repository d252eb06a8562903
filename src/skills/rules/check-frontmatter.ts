import { countCodePoints } from "../text/code-points.ts";
import { nearest } from "../../base/nearest.ts";
import { maxFaultsOfRule } from "./fit-faults.ts";
import { isSlug, longestNormalised, maxNameLength, toSlug } from "../names.ts";
import type { RuleCode } from "./rules.ts";
import { isField, specificationFields } from "../manifest/specification-fields.ts";

/** A rule broken by a value, before it is known where that value stands. */
export interface ValueFault {
  readonly code: RuleCode;
  readonly key: string;
  readonly child?: string;
  /** What stands at the place that is meant, at or behind the start of the value; else that start is the place. */
  readonly sought?: string;
  readonly message: string;
  readonly fix: string;
}

export const maxDescriptionLength = 1024;
export const maxCompatibilityLength = 500;

/** Checks a frontmatter's name against the specification and AvailableSkill; `directory` is the name it must match. */
export function checkName(name: string, directory: string, report: (fault: ValueFault) => void): void {
  if (isSlug(name) && name === directory) return;
  const isLong = name.length > longestNormalised;
  const normal = name.slice(0, longestNormalised).normalize("NFKC");
  const fault = (code: RuleCode, message: string, fix: string): void => report({ code, key: "name", message, fix });
  const slug = toSlug(name);
  const rewrite = (otherwise: string): string =>
    slug === undefined || slug === name ? otherwise : `Write it as ${slug}.`;
  const length = countCodePoints(isLong ? name : normal);
  if (length > maxNameLength)
    fault("name-too-long", `the name has ${length} characters, at most ${maxNameLength} count`, "Shorten the name.");
  if (normal !== normal.toLowerCase()) {
    fault("name-not-lowercase", `the name ${normal} is not lowercase`, rewrite(`Write it as ${normal.toLowerCase()}.`));
  }
  if (!/^[\p{L}\p{N}-]*$/u.test(normal)) {
    fault(
      "name-invalid-characters",
      `the name ${normal} has characters other than letters, digits and hyphens`,
      rewrite("Use letters, digits and hyphens only."),
    );
  } else if (!/^[a-z0-9-]*$/i.test(normal)) {
    fault(
      "name-not-ascii",
      `the name ${normal} has letters other than a to z, which editors do not accept`,
      rewrite("Use the letters a to z, digits and hyphens only."),
    );
  }
  if (/^-|-$|--/.test(normal)) {
    fault(
      "name-hyphens",
      `the name ${normal} starts or ends with a hyphen or has two in a row`,
      rewrite("Use single hyphens between words."),
    );
  }
  if (normal !== directory.normalize("NFKC")) {
    fault(
      "name-directory-mismatch",
      `the name ${normal} is not that of its directory, ${directory}`,
      renaming(name, directory),
    );
  }
}

/** What makes a name and its directory one: names that are valid, where there are any. */
function renaming(name: string, directory: string): string {
  const [forDirectory = name, forName = directory] = [toSlug(name), toSlug(directory)];
  return forDirectory === forName
    ? `Rename both to ${forName}.`
    : `Rename one of them: the directory to ${forDirectory}, or the name to ${forName}.`;
}

/** The field that was meant by a key, if it is not there as well. The same few keys stand in thousands of skills. */
function closestField(key: string, values: object): string | undefined {
  if (key.length > maxNameLength) return undefined;
  let closest = closestFields.get(key);
  if (closest === undefined) {
    closest = nearest(key, specificationFields);
    if (closestFields.size === mostRemembered) closestFields.clear();
    closestFields.set(key, closest);
  }
  const [close] = closest;
  if (close === undefined || !Object.hasOwn(values, close)) return close;
  return nearest(
    key,
    specificationFields.filter((field) => !Object.hasOwn(values, field)),
  )[0];
}

const closestFields = new Map<string, readonly string[]>();
const mostRemembered = 1000;

/** Reports each top-level key the specification does not know. */
export function checkFields(values: Readonly<Record<string, unknown>>, report: (fault: ValueFault) => void): void {
  let count = 0;
  for (const key of Object.keys(values)) {
    if (isField(key)) continue;
    const close = ++count > maxFaultsOfRule ? undefined : closestField(key, values);
    report({
      code: "field-unexpected",
      key,
      message: `the specification has no field ${key}`,
      fix: `${close === undefined ? "" : `Did you mean ${close}? Else: `}Move ${key} into metadata, or remove it.`,
    });
  }
}
