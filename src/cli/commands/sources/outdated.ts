import { readLock } from "../../../sources/lock-file.ts";
import { findSkillsDirectory } from "../../../sources/install-scope.ts";
import { defineCommand, exit } from "../../command.ts";
import { table } from "../../report/table.ts";
import { safeText } from "../../report/safe-text.ts";
import { type UpdateLookup, failuresOf, latestWords, versionWords } from "../../../sources/update.ts";
import { emptyWords, lockNotes, recheckOptions, scopeFromOptions, withUpdates } from "./install/source-options.ts";

export const command = defineCommand({
  options: recheckOptions,
  examples: ["outdated", "outdated --json"],
  notes: [
    "Lists the skills of the lock whose source now has other bytes. acp-skills update --check shows what changed.",
    ...lockNotes,
    "Exits with 1 if a skill is outdated or not offered any more, with 3 if a source cannot be read.",
  ],
  async run({ options }, terminal) {
    const where = scopeFromOptions(options, terminal);
    const lock = readLock(where);
    const skills = findSkillsDirectory(where);
    const search = { where, entries: [...lock.entries], skills, restored: ["missing"] as const };
    return await withUpdates(options, lock, search, terminal, async (found) => {
      const outdated = found.filter(({ latest: { state } }) => state === "updated");
      if (options.json === true) await terminal.printJson({ skills: found.map(toJson) });
      else if (outdated.length > 0) {
        const rows = outdated.map(toRow);
        await terminal.print(table(["NAME", "INSTALLED", "LATEST", "SOURCE"], rows, terminal));
      }
      for (const failure of failuresOf(found)) terminal.note(failure);
      const isCurrent = found.every(({ latest: { state } }) => ["current", "missing", "held"].includes(state));
      if (found.length === 0) terminal.note(emptyWords(where));
      else if (isCurrent) terminal.note("no skill is outdated");
      if (found.some(({ latest: { state } }) => state === "failed")) return exit.unable;
      return found.some(({ latest: { state } }) => state === "updated" || state === "gone") ? exit.found : exit.done;
    });
  },
});

function toRow({ key, entry, latest, source }: UpdateLookup): string[] {
  const now = "downloaded" in latest ? latestWords(latest.downloaded) : "";
  return [key, versionWords(entry), now, source].map(safeText);
}

function toJson({ key, entry, latest, source, installed }: UpdateLookup): object {
  const { version = null, digest = null, commit = null } = entry;
  const found = "downloaded" in latest ? latest.downloaded : undefined;
  return {
    name: key,
    state: latest.state,
    installed: { version, digest, commit, on_disk: installed.state },
    latest: found === undefined ? null : { version: found.inspected.version, digest: found.inspected.digest },
    source,
    ...("why" in latest && { why: latest.why }),
  };
}
