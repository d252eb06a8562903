import { constants, createReadStream } from "node:fs";
import { resolve } from "node:path";
import { isUsableFile } from "../../../base/processes/find-program.ts";
import { localOwner } from "../../../runtime/caller.ts";
import { type RunResult, maxTimeoutMs } from "../../../runtime/runs.ts";
import { toMimeType } from "../../../skills/files.ts";
import type { Catalog } from "../../../skills/skillset.ts";
import { running } from "../../arguments/running-options.ts";
import { cwd, json, roots } from "../../arguments/shared-options.ts";
import { readInput } from "../../arguments/values.ts";
import { type Tools, callTools } from "../../call-tools.ts";
import { defineCommand, usageError, text, texts, flag, exit } from "../../command.ts";
import { describeRun, inWordsOfRun } from "../../report/outcome.ts";

export const command = defineCommand({
  usage: "run NAME [options] [-- ARG…]",
  positionals: { name: "NAME", minimum: 1, maximum: 1, values: "skills" },
  takesRest: true,
  options: {
    script: text("PATH", "Run this file of the skill, such as scripts/extract.py."),
    args: text("JSON", "Arguments as a JSON object, @FILE for a file that contains it, or - for stdin. Default: {}."),
    blob: texts("FILE", "Pass FILE to the run as a blob. Repeatable."),
    timeout: text("DURATION", "The run may take this long, such as 500ms, 10s or 2m; at most 10m. Default: 30s."),
    "dry-run": flag("Check everything and print what would be run, but run nothing."),
    ...running,
    ...roots,
    cwd,
    json,
  },
  examples: [
    `run rows.clean --args '{"table": "@1"}' --blob rows.csv`,
    "run pdf --script scripts/extract.py -- --pages 1-3",
  ],
  notes: [
    "Output of the code appears on stderr while it runs; the result is printed on stdout.",
    'In --args, the string "@1" stands for the first --blob, "@2" for the second.',
    'The words after -- are the arguments of --script. Its stdin is given by --args \'{"stdin": "…"}\'.',
    "acp-skills show NAME lists the inputs and permissions of a skill.",
    "Exits with 1 if the run fails, with 3 if it is refused.",
  ],
  async run({ options: given, positionals: [name = ""], rest }, terminal) {
    const { script, timeout, blob = [] } = given;
    const args = withWords(await readInput(given.args, "--args", terminal.stdin), rest, script);
    const timeoutMs = timeout === undefined ? undefined : parseDuration("--timeout", timeout);
    const files = blob.map((file) => resolve(terminal.cwd, file));
    const unreadable = blob.find((_, index) => !isUsableFile(files[index] ?? "", constants.R_OK));
    if (unreadable !== undefined) throw usageError(`--blob ${unreadable}: no such file, or it cannot be read`);
    const asJson = given.json === true;
    const reword = (error: unknown, catalog: Catalog): unknown => (asJson ? error : inWordsOfRun(error, name, catalog));
    return await callTools(given, terminal, { json: asJson, reword }, async (tools) => {
      const blobs = await putAll(files, tools);
      const input = {
        name,
        args: withBlobs(args, blobs, (argument) =>
          terminal.note(`${argument} in --args refers to a --blob that was not given; it is passed on as text`),
        ),
        ...(blobs.length > 0 && { input_blobs: blobs }),
        ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
        ...(script !== undefined && { script }),
      };
      if (given["dry-run"] === true) {
        await terminal.printJson({ ...(await tools.app.toolbox.check("execute_skill", input, tools.caller)) });
        return exit.done;
      }
      const result = (await tools.call("execute_skill", input)) as RunResult;
      const { clamped, timeout_ms } = result.limits_applied;
      if (timeoutMs !== undefined && clamped === true) {
        const whose = timeoutMs > maxTimeoutMs ? "the limit" : "the limit of the skill";
        terminal.note(`--timeout ${timeout} is above ${whose}; the run had ${timeout_ms} ms`);
      }
      const session = { catalog: tools.catalog, cwd: terminal.cwd };
      if (asJson) await terminal.printJson(result);
      else await terminal.print(describeRun(result, script !== undefined, session));
      return result.status === "completed" ? exit.done : exit.found;
    });
  },
});

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** Converts `10s`, `500ms`, `1.5m`, or a plain number of milliseconds to milliseconds. Throws INVALID_OPTIONS for anything else. */
export function parseDuration(option: string, text: string): number {
  const [, number = "", unit = "ms"] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)?$/.exec(text) ?? [];
  const ms = Math.round(Number(number) * (units[unit] ?? 1));
  const form = "a duration such as 10s, 500ms or 2m (a plain number is milliseconds)";
  if (number === "" || ms < 1) throw usageError(`${option} needs ${form}, not ${text}`);
  return ms;
}

/** The words after `--` as the arguments of a script. */
function withWords(args: unknown, words: readonly string[] | undefined, script: string | undefined): unknown {
  if (words === undefined) return args;
  if (script === undefined)
    throw usageError("words after -- are the arguments of a script; name it with --script PATH");
  if (typeof args !== "object" || args === null || "argv" in args)
    throw usageError("arguments of the script are given in --args and after --; use one of the two");
  return { ...args, argv: words };
}

async function putAll(files: readonly string[], { app, signal }: Tools): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const file of files) {
    const { id } = await app.blobs.put(localOwner, toMimeType(file), createReadStream(file), { signal });
    ids.push(id);
  }
  return ids;
}

/** Replaces `@1` in an argument with the id of the first blob; calls `onMissing` if there is no such blob. */
function withBlobs(value: unknown, blobs: readonly string[], onMissing: (argument: string) => void): unknown {
  if (typeof value === "string") {
    const [, number] = /^@([1-9]\d?)$/.exec(value) ?? [];
    if (number === undefined) return value;
    const blob = blobs[Number(number) - 1];
    if (blob === undefined) onMissing(JSON.stringify(value));
    return blob ?? value;
  }
  if (Array.isArray(value)) return value.map((inner) => withBlobs(inner, blobs, onMissing));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withBlobs(inner, blobs, onMissing)]));
}
