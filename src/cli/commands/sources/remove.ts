import { readLock } from "../../../sources/lock-file.ts";
import { defineCommand, flag, exit } from "../../command.ts";
import { lockedKey, lossWords, notInLock, stateOf } from "../../../sources/installed.ts";
import { recoverSkillsDirectory, removeSkills } from "../../../sources/install.ts";
import {
  type RecordedInstall,
  confirm,
  lockNotes,
  scopeOptions,
  recordInstalls,
  scopeFromOptions,
} from "./install/source-options.ts";
import { interruptible } from "../../report/terminal.ts";

export const command = defineCommand({
  positionals: { name: "NAME", minimum: 1, maximum: Infinity, values: "skills" },
  options: {
    yes: flag("Remove without asking. Only a person at a terminal is asked.", "y"),
    "discard-changes": flag("Also remove skills changed here, or without a hash in the lock; the changes are lost."),
    ...scopeOptions,
  },
  examples: ["remove pdf", "remove --global pdf"],
  notes: [
    "Removes skills that add installed, and their entries in the lock.",
    ...lockNotes,
    "Exits with 3, and removes nothing, if one of them is not in the lock or may have changed.",
  ],
  async run({ options, positionals }, terminal) {
    const where = scopeFromOptions(options, terminal);
    const skills = await recoverSkillsDirectory(where, (note) => terminal.note(note));
    const lock = readLock(where);
    const refusals: string[] = [];
    const removals: Removal[] = [];
    const rows: RecordedInstall[] = [];
    const discards = options["discard-changes"] === true;
    for (const name of new Set(positionals)) {
      const key = lockedKey(lock, name);
      const entry = key === undefined ? undefined : lock.entries.get(key);
      if (key === undefined || entry === undefined) {
        refusals.push(notInLock(lock, name));
        continue;
      }
      const found = await stateOf(skills, key, entry);
      removals.push({ key, seen: found.state === "missing" ? undefined : found.installed });
      const { version, digest } = entry;
      const about = `from ${entry.source}${discards ? " --discard-changes" : ""}`;
      rows.push({ name: entry.name ?? key, version, digest, about });
      const loss = discards ? undefined : lossWords(found, "removes");
      if (loss !== undefined) refusals.push(`${key}: ${loss}`);
    }
    for (const refusal of refusals) terminal.note(refusal);
    const keys = removals.map(({ key }) => key);
    return await interruptible(terminal, async (signal) => {
      // Without a terminal, nobody can be asked, and the names were given.
      const yes = terminal.ask === undefined ? true : options.yes;
      const title = `Remove ${keys.join(", ")}?`;
      const isWanted = refusals.length === 0 && (await confirm(title, "Remove", { yes, terminal, signal }));
      if (isWanted) {
        recordInstalls(where, "remove", rows, terminal);
        await removeSkills(where, lock, removals);
        for (const key of keys) terminal.note(`removed ${key}`);
      }
      if (options.json === true) await terminal.printJson({ removed: isWanted ? keys : [], refused: refusals });
      return isWanted ? exit.done : exit.unable;
    });
  },
});

type Removal = Parameters<typeof removeSkills>[2][number];
