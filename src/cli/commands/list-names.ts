import { defineCommand } from "../command.ts";
import { createListing } from "../listing.ts";
import { safeText } from "../report/safe-text.ts";

/** For completion scripts: the names of the skills of the current directory, one a line. Says nothing else. */
export const command = defineCommand({
  usage: "list-names",
  options: {},
  async run(_given, terminal) {
    const { catalog } = await createListing({}, terminal);
    await terminal.print(catalog.snapshot.skills.map(({ skill }) => `${safeText(skill.slug)}\n`));
    return 0;
  },
});
