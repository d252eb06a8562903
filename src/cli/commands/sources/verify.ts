import { readLock, unfinishedWords } from "../../../sources/lock-file.ts";
import { findSkillsDirectory } from "../../../sources/skills-place.ts";
import { defineCommand, exit } from "../../command.ts";
import { counted } from "../../../base/text/code-points.ts";
import { safeText } from "../../report/safe-text.ts";
import { type InstalledState, differenceWords, stateOf, unlockedNames } from "../../../sources/installed.ts";
import { emptyWords, lockNotes, place, skillsPlaceFromOptions } from "./install/source-options.ts";

export const command = defineCommand({
  options: place,
  examples: ["verify", "verify --json"],
  notes: [
    "Compares the bytes of every skill in the lock with it, without network. For CI.",
    ...lockNotes,
    "Exits with 1 if a skill is missing, differs from the lock, or has no hash there, or a change was interrupted. Skills that are not in the lock are named.",
  ],
  async run({ options }, terminal) {
    const where = skillsPlaceFromOptions(options, terminal);
    const lock = readLock(where);
    const skills = findSkillsDirectory(where);
    const results: Verified[] = [];
    for (const [name, entry] of lock.entries) {
      const isLinked = entry.sourceType === "node_modules";
      results.push({ name, result: isLinked ? { state: "unverifiable" } : await stateOf(skills, name, entry) });
    }
    const unfinished = unfinishedWords(where);
    const unlocked = unlockedNames(skills, lock.entries);
    const bad = results.filter(({ result: { state } }) => state !== "unchanged");
    const isOk = bad.length === 0 && unfinished === undefined;
    if (options.json === true) await terminal.printJson({ ok: isOk, skills: results.map(toJson), unlocked });
    else await terminal.print(results.flatMap(toLines));
    for (const name of unlocked) terminal.note(`note: ${name} is not in the lock`);
    if (lock.entries.size === 0) terminal.note(emptyWords(where));
    else
      terminal.note(
        `${counted(results.length, "skill")}: ${bad.length === 0 ? "all as locked" : `${bad.length} not as locked, or unknown`}`,
      );
    if (unfinished !== undefined) terminal.note(unfinished);
    return isOk ? exit.done : exit.found;
  },
});

interface Verified {
  readonly name: string;
  readonly result: InstalledState | { readonly state: "unverifiable" };
}

function toJson({ name, result }: Verified): object {
  return { name, state: result.state, ...("difference" in result && result.difference) };
}

function toLines({ name, result }: Verified): string[] {
  const shown = safeText(name);
  switch (result.state) {
    case "unchanged":
      return [`ok       ${shown}\n`];
    case "unverifiable":
      return [`unknown  ${shown}: the lock has no hash of its files\n`];
    case "missing":
      return [`missing  ${shown}: its directory does not exist; acp-skills add installs what the lock names\n`];
    case "changed":
      return [
        `changed  ${shown}\n`,
        ...differenceWords(result.difference).map((words) => `         ${safeText(words)}\n`),
      ];
  }
}
