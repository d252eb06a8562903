import path from "node:path";
import type { Ignore } from "ignore";
import type { Steps } from "./slices.ts";

/** What `.gitignore` and `.ignore` files say of directories below them; the deepest file comes last and decides. */
export type IgnoreRules = readonly { readonly base: string; readonly matcher: Ignore }[];

export const noIgnoreRules: IgnoreRules = [];

/** Loaded when the first ignore file is met: most trees of skills have none. */
let createMatcher: ((options: { ignorecase: boolean }) => Ignore) | undefined;

/** Adds the rules of the ignore files in `base`, whose text is `text`. */
export function* withIgnoreRules(rules: IgnoreRules, base: string, text: string): Steps<IgnoreRules> {
  if (createMatcher === undefined) {
    yield import("ignore").then((library) => {
      createMatcher = library.default;
    });
  }
  const matcher = createMatcher?.({ ignorecase: false }).add(text);
  return matcher === undefined ? rules : [...rules, { base, matcher }];
}

/** Whether a directory, somewhere below every base, is ignored. */
export function isIgnored(rules: IgnoreRules, directory: string): boolean {
  for (let index = rules.length - 1; index >= 0; index--) {
    const rule = rules[index];
    if (rule === undefined) continue;
    const relative = path.relative(rule.base, directory);
    if (relative === "" || relative.startsWith("..")) continue;
    const { ignored, unignored } = rule.matcher.test(`${relative.split(path.sep).join("/")}/`);
    if (ignored || unignored) return ignored;
  }
  return false;
}
