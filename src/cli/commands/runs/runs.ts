import { SkillsError } from "../../../base/errors.ts";
import { type RunSpec, type StoredRun, diskRunStore, runRecordsIn } from "../../../runtime/runs.ts";
import { json, dataNote } from "../../arguments/shared-options.ts";
import { defineCommand, usageError, exit } from "../../command.ts";
import { collect } from "../../data-directory.ts";
import { defaultDataDirectory } from "../../../base/paths/directories.ts";
import { table } from "../../report/table.ts";
import { jsonText, labelled, safeLines, safeText } from "../../report/safe-text.ts";
import type { Terminal } from "../../report/terminal.ts";

export const command = defineCommand({
  usage: "runs list|show [ID] [options]",
  positionals: { name: "action: list or show", minimum: 1, maximum: 2, values: ["list", "show"] },
  options: { json },
  notes: [
    "list: runs of the last 24 hours, newest first. show ID: what was to run, how it went, and its result.",
    "A run is interrupted if its process ended before it.",
    dataNote,
  ],
  async run({ options, positionals: [action = "", id] }, terminal) {
    if (action !== "list" && action !== "show") throw usageError(`unknown action ${action}; use list or show`);
    if (action === "show" && id === undefined) throw usageError("missing ID");
    if (action === "list" && id !== undefined) throw usageError(`unexpected argument ${id}`);
    const store = diskRunStore(runRecordsIn(defaultDataDirectory(terminal.home)), { log: terminal.log });
    if (id === undefined) {
      const runs = await collect(store.list());
      if (options.json === true) await terminal.printJson({ runs });
      else if (runs.length === 0) terminal.note("no runs in the last 24 hours");
      else await terminal.print(table(["WHEN", "RUN", "STATUS", "DOOR", "WHAT"], runs.map(toRow), terminal));
      return exit.done;
    }
    const run = await store.read(id);
    if (run === undefined)
      throw new SkillsError(
        "FILE_NOT_FOUND",
        `there is no run ${id} in the last 24 hours; acp-skills runs list shows all`,
      );
    if (options.json === true) await terminal.printJson(run);
    else await terminal.print(describe(run, terminal));
    return exit.done;
  },
});

function toRow(run: StoredRun): readonly string[] {
  return [timeOf(run), run.spec.runId, run.status, safeText(run.spec.door), safeText(whatRan(run.spec))];
}

function timeOf({ createdAt }: StoredRun): string {
  return `${new Date(createdAt).toISOString().slice(0, 19)}Z`;
}

/** Describes the program of a run on one line. */
function whatRan({ program, skill }: RunSpec): string {
  const name = skill === undefined ? "" : `${skill.name} ${skill.version}`;
  if (program.type === "skill") return name;
  if (program.type === "remote") return `${name} at ${program.endpoint}`;
  if (program.type === "script") return `${name} ${program.file}`;
  return `code, ${program.code.trim().split("\n", 1)[0] ?? ""}`;
}

function* describe(run: StoredRun, { paint }: Pick<Terminal, "paint">): Iterable<string> {
  const { spec, status, events, result, error } = run;
  const { program, skill, needs, limits } = spec;
  const line = labelled(paint, 12);
  yield line("run", spec.runId);
  yield line("status", status);
  yield line("when", timeOf(run));
  yield line("what", whatRan(spec));
  yield line("digest", skill?.digest);
  yield line("called by", spec.parent);
  yield line("replay of", spec.replays);
  yield line("arguments", jsonText(program.type === "script" ? program.argv : program.args));
  yield line("skills", spec.mounts.map(({ name, version }) => `${name} ${version}`).join(", "));
  yield line("brokered", spec.brokered.map(({ name, version }) => `${name} ${version}`).join(", "));
  yield line("blobs", spec.blobs.map(({ id }) => id).join(", "));
  yield line("network", needs.network.join(", "));
  yield line("secrets", [...needs.secrets, ...(needs.uses ?? [])].join(", "));
  yield line("project", needs.project === "none" ? undefined : needs.project);
  yield line("limits", `${limits.timeoutMs} ms, ${limits.memoryBytes / 1024 / 1024} MiB memory`);
  yield line("owner", spec.owner);
  yield line("subagent", spec.subagent);
  yield line("door", !spec.label ? spec.door : `${spec.door}, ${spec.label}`);
  yield "\n";
  for (const { atMs, type, ...facts } of events)
    yield line(
      `${Math.round(atMs)} ms`,
      [type, ...Object.entries(facts).map(([name, value]) => `${name} ${String(value)}`)].join(", "),
    );
  yield "\n";
  if (error !== undefined) yield safeLines(`${error.code}: ${error.message}\n`);
  if (result === undefined) return;
  yield safeLines(`${result.summary}\n`);
  if (result.output !== undefined) yield safeLines(`${jsonText(result.output, 2)}\n`);
  if (result.logs_preview !== "") yield safeLines(`\n${result.logs_preview.trimEnd()}\n`);
}
