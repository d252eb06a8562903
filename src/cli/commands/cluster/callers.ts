import { openRecords } from "../../../given-ports.ts";
import { counted } from "../../../base/text/code-points.ts";
import { exit, usageError } from "../../command.ts";
import { safeText } from "../../report/safe-text.ts";
import { table } from "../../report/table.ts";
import type { ClusterAction } from "../cluster.ts";

/** `cluster callers list | add NAME | remove NAME`. */
export const callersAction: ClusterAction = async ({ words: [action, name], options }, settings, terminal) => {
  if (!["list", "add", "remove"].includes(action ?? "") || (name === undefined) !== (action === "list"))
    throw usageError("use cluster callers list, callers add NAME or callers remove NAME");
  const records = await openRecords(settings);
  if (records === undefined) return exit.usage;
  const { callers } = records;
  try {
    if (name === undefined) {
      const all = await callers.list();
      const rows = all.map(({ name: who, settings: may, tokens }) => {
        const valid = tokens.filter(({ isExpired }) => !isExpired);
        const ends = valid.map(({ digest, expiresAt }) => {
          const until = expiresAt === null ? "" : ` until ${new Date(expiresAt).toISOString()}`;
          return `${digest.slice(0, 12)}${until}`;
        });
        return [who, counted(valid.length, "token"), ends.join(", "), safeText(JSON.stringify(may))];
      });
      if (options.json === true) await terminal.printJson({ callers: all });
      else if (all.length === 0) terminal.note("the cluster has no callers; acp-skills cluster callers add NAME");
      else await terminal.print(table(["NAME", "VALID", "DIGESTS", "MAY"], rows, terminal));
    } else if (action === "remove") {
      await callers.remove(name);
      terminal.note(`removed ${name}; its tokens are refused from now on`);
    } else {
      const { skills, tools, grant: grants, secret: secrets } = options;
      const isNew = await callers.add(name, JSON.parse(JSON.stringify({ skills, tools, grants, secrets })) as object);
      terminal.note(
        isNew ? `added ${name}; acp-skills cluster tokens new ${name} gives it a token` : `changed ${name}`,
      );
    }
    return exit.done;
  } finally {
    await records.close();
  }
};
