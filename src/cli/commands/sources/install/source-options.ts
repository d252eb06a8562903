import { existsSync } from "node:fs";
import { type SkillsPlace, globalPlace, projectPlace } from "../../../../sources/skills-place.ts";
import { levels } from "../../../../skills/rules.ts";
import { existingDirectory } from "../../../arguments/values.ts";
import { allowPrivate, cwd, json, token } from "../../../arguments/shared-options.ts";
import { type OptionTable, type OptionValues, flag, choice, texts } from "../../../command.ts";
import type { Terminal } from "../../../report/terminal.ts";

/** Options of every command that works with a lock. */
export const place = {
  global: flag("Your own skills, in ~/.agents/skills, instead of the project's.", "g"),
  cwd,
  json,
} as const satisfies OptionTable;

/** Options of the commands that ask sources. */
const asking = { "allow-private": allowPrivate, token } as const satisfies OptionTable;

export const lockNotes = [
  "Skills are installed into .agents/skills; skills-lock.json records where each came from. With --global: ~/.agents/skills and ~/.agents/.skill-lock.json. The skills package (npx skills) reads and writes the same files.",
] as const;

/** Throws INVALID_OPTIONS for a directory that cannot be read. */
export function skillsPlaceFromOptions(options: OptionValues<typeof place>, terminal: Terminal): SkillsPlace {
  if (options.global === true) return globalPlace(terminal.home, process.env);
  return projectPlace(existingDirectory("--cwd", options.cwd), terminal.home, process.env);
}

/** Options of the commands that install: what is refused besides skills that no agent would be offered, and what is lost. */
export const installing = {
  level: choice(levels, "Refuse skills with errors at this level of acp-skills check."),
  "discard-changes": flag(
    "Replace skills that were changed here, or that the lock has no hash of; the changes are lost.",
  ),
} as const satisfies OptionTable;

/** Says that a lock names no skills or does not exist, with its path: a person may be in another directory than they think. */
export function emptyWords({ lockFile }: SkillsPlace): string {
  return `${lockFile} ${existsSync(lockFile) ? "names no skills" : "does not exist; acp-skills add SOURCE writes it"}`;
}

/** Options of the commands that ask the sources of the lock again. */
export const recheckOptions = {
  source: texts(
    "URL",
    "The full URL of a source whose secret part the lock leaves out, or that is read over ssh. Repeatable.",
  ),
  ...asking,
  ...place,
} as const satisfies OptionTable;
