import { writeFileSync } from "node:fs";
import { systemClock } from "../../base/clock.ts";
import type { PlayedClient } from "../../conformance/play-agent.ts";
import type { DriveOptions } from "../../conformance/drive-agent.ts";
import type { RuleSource } from "../../conformance/rule.ts";
import { isSkillsError } from "../../base/errors.ts";
import { json } from "../arguments/shared-options.ts";
import { existingDirectory, readNamedFile, toAbsolute, reasonOf, parseNumber } from "../arguments/values.ts";
import { defineCommand, usageError, flag, text, choice, type ExitCode, exit } from "../command.ts";
import { type Terminal, onInterruption } from "../report/terminal.ts";
import { type TranscriptEntry, limits, byConnection, readTranscript } from "../../conformance/transcript.ts";
import { type ConformanceReport, junitReport, makeReport, textReport } from "../../conformance/report.ts";
import { jsonObject } from "../report/json-output.ts";
import { errorLines, safeText } from "../report/safe-text.ts";

const formats = {
  text: safeTextReport,
  json: (report: ConformanceReport) => [jsonObject(report)],
  junit: junitReport,
};

export const command = defineCommand({
  usage: "conformance [options] -- AGENT [ARG…] | --client [options] | --replay FILE…",
  takesRest: true,
  positionals: { name: "FILE", minimum: 0, maximum: Infinity },
  options: {
    client: flag("Play an agent on stdio, to check the client that started this command."),
    replay: flag("Check recorded transcripts."),
    cwd: text("DIR", "The sessions' directory. Default: a temporary one with one skill."),
    prompt: text("TEXT", "Also send prompts, with skills where an agent takes them, which may cost money."),
    timeout: text("SECONDS", "How long to wait for an answer. Default: 30."),
    record: text("FILE", "Write all messages to FILE, without paths and ids of this machine."),
    report: text("FILE", "Write the report to FILE instead of stdout."),
    source: {
      ...choice(
        ["acp", "json-rpc", "agent-skills-rfd", "rfd-370", "acp-skills"],
        "Check only the rules of SOURCE; repeatable. Default: all, of which acp-skills, this project's own, do not count.",
      ),
      multiple: true,
      formerly: "profile",
    },
    format: choice(Object.keys(formats) as (keyof typeof formats)[], "Format of the report. Default: text."),
    json: { ...json, help: "Print JSON: the same as --format json." },
  },
  examples: [
    "conformance -- gemini --acp",
    "conformance --format junit --report skills.xml -- my-agent",
    "conformance --client --report report.txt",
    "conformance --replay recorded.ndjson",
  ],
  notes: [
    "An agent is started five times, as by different editors: v1 without opt-in, two that opt in, v2, and v2 with skill entries.",
    "No prompt is sent without --prompt.",
    "A client gets skills in the forms that it declared, changes, bad entries and nonsense; stdout belongs to the protocol.",
    "Exits with 0 if conformant, 1 if not, or if there is no verdict: the agent announced no skills, or the client left early.",
    "Exits with 127 or 126 if the agent cannot be started. Warnings alone exit with 0.",
    "The rules and their transcripts: schema/conformance/README.md",
  ],
  async run({ options, positionals, rest }, terminal) {
    const { client = false, replay = false, cwd, source: sources } = options;
    const { format = options.json === true ? "json" : "text" } = options;
    const ways = [client, replay, rest !== undefined].filter(Boolean).length;
    if (options.json === true && format !== "json")
      throw usageError(`--json and --format ${format} exclude each other`);
    if (ways !== 1) throw usageError("needs one of: -- AGENT, --client, --replay FILE");
    if (!replay && positionals[0] !== undefined) throw usageError(`unexpected argument ${positionals[0]}`);
    const timeoutMs = parseNumber("--timeout", options.timeout ?? "30", [1, 9_999]) * 1_000;
    const output = createOutputWriter("--report", options.report);
    const print = async (report: ConformanceReport): Promise<ExitCode> => {
      if (output === undefined) await terminal.print(formats[format](report));
      else output([...formats[format](report)].join(""));
      return report.conformant === true ? exit.done : exit.found;
    };
    if (replay) {
      if (positionals.length === 0) throw usageError("missing FILE");
      return await print(makeReport("both", positionals.flatMap(readTranscriptFile), sources));
    }
    const checking = { timeoutMs, sources, print, terminal, record: createOutputWriter("--record", options.record) };
    if (client) return await checkClient(checking, output !== undefined);
    const directory = cwd === undefined ? undefined : existingDirectory("--cwd", cwd);
    const [agent, ...args] = rest ?? [];
    if (agent === undefined || agent === "")
      throw usageError("missing agent; write: acp-skills conformance -- AGENT [ARG…]");
    return await checkAgent(
      { agent: { command: agent, args }, cwd: directory, prompt: options.prompt, timeoutMs },
      checking,
    );
  },
});

interface Checking {
  readonly timeoutMs: number;
  /** The sources whose rules are checked; undefined means all sources. */
  readonly sources: readonly RuleSource[] | undefined;
  /** Prints the report and returns the exit status. */
  readonly print: (report: ConformanceReport) => Promise<ExitCode>;
  readonly terminal: Terminal;
  readonly record: ((text: string) => void) | undefined;
}

/** The maximum wait for each update: a list of skills comes with the session, or not at all. */
const patienceMs = 5_000;

async function checkAgent(
  options: Pick<DriveOptions, "agent" | "cwd" | "prompt" | "timeoutMs">,
  { sources, print, terminal, record }: Checking,
): Promise<ExitCode> {
  const [{ driveAgent }, { normaliseTranscript, placeholdersOf }] = await Promise.all([
    import("../../conformance/drive-agent.ts"),
    import("../../conformance/normalise.ts"),
  ]);
  const { signal, stop } = onInterruption();
  try {
    const driven = await driveAgent({ ...options, patienceMs, clock: systemClock, signal });
    record?.(normaliseTranscript(driven.entries, placeholdersOf(driven.directories)).join(""));
    const code = await print(makeReport("agent", driven.connections, sources));
    return signal.aborted ? exit.interrupted : code;
  } catch (error) {
    if (!isSkillsError(error) || !error.code.startsWith("AGENT_NOT_")) throw error;
    terminal.note(...errorLines(error.message));
    return error.code === "AGENT_NOT_FOUND" ? exit.notFound : exit.notExecutable;
  } finally {
    stop();
  }
}

/** Creates a file at once, so that an error comes before the work. The returned function replaces the content. Throws INVALID_OPTIONS. */
function createOutputWriter(option: string, file: string | undefined): ((text: string) => void) | undefined {
  if (file === undefined) return undefined;
  const target = toAbsolute(file);
  try {
    writeFileSync(target, "");
  } catch (error) {
    throw usageError(`${option} ${file} cannot be written: ${reasonOf(error)}`);
  }
  return (text) => {
    writeFileSync(target, text);
  };
}

/** Reads the connections of a transcript. Throws INVALID_OPTIONS if there is none, or it is too large. */
function readTranscriptFile(file: string): { readonly name: string; readonly entries: readonly TranscriptEntry[] }[] {
  return Array.from(
    byConnection(readTranscript(readNamedFile(file, limits.transcriptBytes), file)),
    ([connection, entries]) => ({
      name: connection === "" ? file : `${file}, ${connection}`,
      entries,
    }),
  );
}

/** The lines of the text report, with control characters escaped. */
export function* safeTextReport(report: ConformanceReport): Iterable<string> {
  for (const line of textReport(report)) yield `${safeText(line)}\n`;
}

/**
 * Plays an agent on stdio until the client leaves. The report file is complete after each step: clients may kill their agents. Without a
 * report file, the report is printed on stderr; stdout belongs to the protocol.
 */
async function checkClient(
  { timeoutMs, record, sources, print, terminal }: Checking,
  hasReport: boolean,
): Promise<ExitCode> {
  const [{ playAgent }, { normaliseTranscript, placeholdersOf }] = await Promise.all([
    import("../../conformance/play-agent.ts"),
    import("../../conformance/normalise.ts"),
  ]);
  const write = (played: PlayedClient): ConformanceReport => {
    record?.(normaliseTranscript(played.entries, placeholdersOf([])).join(""));
    const { survived, notes, ...rest } = played;
    const steps = survived.map((step) => `survived ${step}`);
    const report = makeReport("client", [{ name: "client", ...rest, notes: [...steps, ...notes] }], sources);
    if (hasReport) void print(report);
    return report;
  };
  const { stdin: input, stdout: output } = process;
  const played = await playAgent({ input, output, clock: systemClock, timeoutMs, onProgress: write });
  const report = write(played);
  const lines = [...safeTextReport(report)];
  terminal.echo(hasReport ? `acp-skills: ${lines.at(-1) ?? ""}` : lines.join(""));
  return report.conformant === true ? exit.done : exit.found;
}
