import type { Snapshot } from "../../skills/skill.ts";
import { toListedSkill } from "../report/listed-skill.ts";
import { jsonText } from "../report/json-text.ts";
import { listing, notes } from "../arguments/shared-options.ts";
import { defineCommand } from "../command.ts";
import { openListing } from "../open-listing.ts";

export const list = defineCommand({
  usage: "list [options]",
  options: listing,
  examples: ["list", "list --skills ./skills --no-default-roots --json"],
  notes: [
    notes.roots,
    "Exits with 1 if a --skills directory cannot be read; problems of skills do not change the exit code.",
  ],
  async run({ options }, terminal) {
    const { catalog, roots, complete } = await openListing(options, terminal);
    const { snapshot } = catalog;
    if (options.json === true) await terminal.print(listJson(snapshot));
    else {
      const { printTable } = await import("../report/list-table.ts");
      await printTable(snapshot, roots, terminal);
    }
    return complete ? 0 : 1;
  },
});

/** `{skills, problems, counts}`, one item per line, in chunks: ten thousand skills are never one string. */
function* listJson({ skills, problems, counts }: Snapshot): Iterable<string> {
  yield '{"skills":[';
  yield* jsonLines(skills, (offered) => jsonText(toListedSkill(offered)));
  yield '\n],"problems":[';
  yield* jsonLines(problems, (problem) => jsonText(problem));
  yield `\n],"counts":${jsonText(counts ?? null)}}\n`;
}

function* jsonLines<Item>(items: readonly Item[], toJson: (item: Item) => string): Iterable<string> {
  let separator = "\n";
  for (const item of items) {
    yield separator + toJson(item);
    separator = ",\n";
  }
}
