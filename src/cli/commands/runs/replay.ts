import type { JsonDifference, Replay } from "../../../runtime/runs.ts";
import { running } from "../../arguments/running-options.ts";
import { cwd, json, roots } from "../../arguments/shared-options.ts";
import { callTools } from "../../call-tools.ts";
import { defineCommand, exit } from "../../command.ts";
import { safeText } from "../../report/safe-text.ts";

export const command = defineCommand({
  positionals: { name: "RUN_ID", minimum: 1, maximum: 1 },
  options: { ...running, ...roots, cwd, json },
  examples: ["replay run_0123456789abcdef", "replay run_0123456789abcdef --cwd ~/project --json"],
  notes: [
    "Runs a run of the last 24 hours again, on exactly the same files of the skills, blobs, packages and arguments, and says whether its status, output and files are the same. What it prints, its summary and messages may differ.",
    "Refused if any of these bytes are gone or changed, and for runs that work on a project or run without a sandbox, because what those read is not recorded. Secrets and the network may differ from then, which the result notes.",
    "acp-skills runs list shows the runs. The new run is one of them, and needs the same approvals as any other.",
    "Exits with 0 if the output is the same, with 1 if it is different, with 3 if the replay is refused.",
  ],
  async run({ options, positionals: [runId = ""] }, terminal) {
    const asJson = options.json === true;
    return await callTools(options, terminal, { json: asJson }, async (tools) => {
      const replay = await tools.replay(runId);
      if (asJson) await terminal.printJson(toShown(replay));
      else await terminal.print(describe(replay));
      return replay.same ? exit.done : exit.found;
    });
  },
});

/** A replay as JSON, with keys in a fixed order. */
function toShown({ same, replays, differences, asides, notes, result }: Replay): object {
  const shown = ({ where, before, after }: JsonDifference): object => {
    return { where, before: before ?? null, after: after ?? null };
  };
  return {
    same,
    replays,
    run_id: result.run_id,
    differences: differences.map(shown),
    asides: asides.map(shown),
    notes,
    result,
  };
}

function* describe({ same, replays, differences, asides, notes, result }: Replay): Iterable<string> {
  const runs = `${result.run_id} ${same ? "gave the same output as" : "gave another output than"} ${replays}`;
  yield `${same ? "✓ same" : "✗ different"}: ${safeText(runs)}\n`;
  for (const difference of differences) yield `  ${inLine(difference)}\n`;
  for (const aside of asides) yield `  does not count: ${inLine(aside)}\n`;
  for (const note of notes) yield `note: ${safeText(note)}\n`;
}

function inLine({ where, before = "nothing", after = "nothing" }: JsonDifference): string {
  return safeText(`${where}: ${before} → ${after}`);
}
