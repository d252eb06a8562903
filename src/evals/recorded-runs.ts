import { appendFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import * as z from "zod";
import { attempt } from "../base/failures/system-error.ts";
import { parseIfJson } from "../base/json/json-value.ts";
import { fieldsOf } from "../client/json.ts";
import {
  type TranscriptEntry,
  formatTranscriptEntry,
  readTranscript,
  limits as transcriptLimits,
} from "../conformance/transcript.ts";
import { type OutputFile, outputFilesIn } from "./case-directory.ts";
import { readPlain } from "./read-plain.ts";
import type { EvalSession } from "./run-session.ts";

/** An assertion result of `grading.json` in the Agent Skills guide; `passed` is null if nobody could decide. */
const assertionResult = z.object({
  text: z.string(),
  passed: z.boolean().nullable(),
  evidence: z.string(),
  weight: z.number(),
});
export type AssertionResult = Readonly<z.infer<typeof assertionResult>>;

const evalRun = z.object({
  id: z.string().regex(/^(?!\.)[\w.-]{1,80}$/),
  withSkill: z.boolean(),
  number: z.int().positive(),
  shouldTrigger: z.boolean(),
  results: z.array(assertionResult).readonly(),
  use: z.enum(["used", "unused", "unseen"]),
  stopReason: z.string(),
  fault: z.string().exactOptional(),
  durationMs: z.number(),
  tokens: z.number().exactOptional(),
  /** Whether files that the session left were not recorded. */
  isCut: z.boolean().exactOptional(),
  /** Permission requests that were rejected. */
  rejected: z.number(),
});

/** One run of one case, with the skill or without it. */
export type EvalRun = Readonly<z.infer<typeof evalRun>>;

const iterationName = /^iteration-(\d{1,6})$/;
const limits = {
  iterations: 10,
  runsBytes: 4 * 1024 * 1024,
  transcriptBytes: 8 * 1024 * 1024,
  lines: 500,
  text: 4_000,
};

/** Makes the next of `iteration-1`, `iteration-2` and so on. */
export function newIteration(workspace: string): string {
  mkdirSync(workspace, { recursive: true });
  const directory = path.join(workspace, `iteration-${(iterationsIn(workspace)[0] ?? 0) + 1}`);
  mkdirSync(directory);
  return directory;
}

/** The numbers of the iterations, the newest first. */
function iterationsIn(workspace: string): readonly number[] {
  const numbers = attempt(() => readdirSync(workspace), []).map((name) => Number(iterationName.exec(name)?.[1] ?? 0));
  return numbers.filter((number) => number > 0).sort((one, other) => other - one);
}

/** The directory of a run. */
export function runDirectoryOf(
  iteration: string,
  { id, withSkill, number }: Pick<EvalRun, "id" | "withSkill" | "number">,
): string {
  return path.join(iteration, `eval-${id}`, withSkill ? "with_skill" : "without_skill", `run-${number}`);
}

/** The observations of a finished session. */
export interface EvalObservations {
  readonly session: EvalSession;
  /** The files that the session wrote or changed; `isCut`: some are missing. */
  readonly files: readonly OutputFile[];
  readonly isCut: boolean;
  /** The session's rows of the ledger, as NDJSON. */
  readonly ledger: string;
}

export const ledgerName = "ledger.ndjson";

/** Records a run in the files of the Agent Skills guide, which other viewers read, and in a line of `runs.ndjson`. */
export function recordEvalRun(iteration: string, run: EvalRun, { session, files, ledger }: EvalObservations): void {
  const directory = runDirectoryOf(iteration, run);
  for (const { path: name, bytes } of files) {
    const target = path.join(directory, "outputs", name);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, bytes);
  }
  writeFileSync(path.join(directory, ledgerName), ledger);
  writeFileSync(path.join(directory, "answer.md"), session.answer);
  writeFileSync(path.join(directory, "transcript.ndjson"), session.entries.map(formatTranscriptEntry).join(""));
  const { results, tokens = null, durationMs: duration_ms } = run;
  const judged = results.filter(({ passed }) => passed !== null);
  const passed = judged.filter((result) => result.passed).length;
  const counts = { passed, failed: judged.length - passed, total: judged.length };
  const summary = { ...counts, pass_rate: passRate(results) ?? null };
  writeJson(path.join(directory, "grading.json"), { assertion_results: results, summary });
  writeJson(path.join(directory, "timing.json"), { total_tokens: tokens, duration_ms });
  appendFileSync(path.join(iteration, "runs.ndjson"), `${JSON.stringify(run)}\n`);
}

export function writeJson(file: string, value: object): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

/** The weighted share of the judged assertions that passed; undefined if none was judged. */
export function passRate(results: readonly AssertionResult[]): number | undefined {
  const judged = results.filter(({ passed }) => passed !== null);
  const all = judged.reduce((sum, { weight }) => sum + weight, 0);
  const passed = judged.reduce((sum, { weight, passed: isPassed }) => sum + (isPassed === true ? weight : 0), 0);
  return all === 0 ? undefined : passed / all;
}

/** Reads the recorded runs of an iteration. The file may come from others: lines of another form are skipped. */
export function readRuns(iteration: string): readonly EvalRun[] {
  const lines = readPlain(path.join(iteration, "runs.ndjson"), limits.runsBytes)?.toString("utf8").split("\n") ?? [];
  return lines.flatMap((line) => evalRun.safeParse(parseIfJson(line)).data ?? []);
}

/** Reads a recorded session; without its transcript it counts as failed. */
export function readObserved(iteration: string, run: EvalRun): EvalObservations {
  const directory = runDirectoryOf(iteration, run);
  const read = (name: string): string =>
    readPlain(path.join(directory, name), transcriptLimits.transcriptBytes)?.toString("utf8") ?? "";
  const entries = attempt(() => readTranscript(read("transcript.ndjson"), directory), undefined);
  const { stopReason, durationMs, rejected, tokens, isCut } = run;
  const fault = entries === undefined ? "its transcript cannot be read" : run.fault;
  const left = outputFilesIn(path.join(directory, "outputs"));
  return {
    ...{ files: left.files, isCut: left.isCut || isCut === true, ledger: read(ledgerName) },
    session: {
      ...{ entries: entries ?? [], answer: read("answer.md"), stopReason, durationMs, rejected, hasStarted: true },
      ...(fault !== undefined && { fault }),
      ...(tokens !== undefined && { tokens }),
    },
  };
}

/** The recorded runs of one evaluation. */
export interface Iteration {
  readonly number: number;
  readonly runs: readonly EvalRun[];
}

/** The latest 10 evaluations in a workspace, the newest first. */
export function readIterations(workspace: string): readonly Iteration[] {
  return iterationsIn(workspace)
    .slice(0, limits.iterations)
    .map((number) => ({ number, runs: readRuns(path.join(workspace, `iteration-${number}`)) }));
}

/** One thing that a session's transcript shows. */
export interface TranscriptLine {
  readonly who: "user" | "agent" | "tool" | "permission";
  readonly text: string;
}

/** The conversation of a run, as a user would have seen it; undefined without a transcript of at most 8 MiB. */
export function readSession(
  workspace: string,
  iteration: number,
  run: Pick<EvalRun, "id" | "withSkill" | "number">,
): readonly TranscriptLine[] | undefined {
  if (!evalRun.shape.id.safeParse(run.id).success) return undefined;
  const file = path.join(runDirectoryOf(path.join(workspace, `iteration-${iteration}`), run), "transcript.ndjson");
  const written = readPlain(file, limits.transcriptBytes)?.toString("utf8");
  return written === undefined ? undefined : attempt(() => toTranscriptLines(readTranscript(written, file)), undefined);
}

function toTranscriptLines(entries: readonly TranscriptEntry[]): readonly TranscriptLine[] {
  const lines: TranscriptLine[] = [];
  for (const { message } of entries) {
    const { method, params } = fieldsOf(message) ?? {};
    const line = toLine(method, fieldsOf(params) ?? {});
    const last = lines.at(-1);
    if (line === undefined || line.text === "") continue;
    if (line.who === "agent" && last?.who === "agent")
      lines[lines.length - 1] = { who: "agent", text: (last.text + line.text).slice(0, limits.text) };
    else if (lines.length < limits.lines) lines.push({ who: line.who, text: line.text.slice(0, limits.text) });
  }
  return lines;
}

function toLine(
  method: unknown,
  { prompt, update, toolCall }: Readonly<Record<string, unknown>>,
): TranscriptLine | undefined {
  const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
  if (method === "session/prompt")
    return {
      who: "user",
      text: (Array.isArray(prompt) ? prompt : []).map((part) => textOf(fieldsOf(part)?.["text"])).join(""),
    };
  if (method === "session/request_permission")
    return { who: "permission", text: textOf(fieldsOf(toolCall)?.["title"]) || "asked" };
  if (method !== "session/update") return undefined;
  const { sessionUpdate, content, title, rawInput } = fieldsOf(update) ?? {};
  if (sessionUpdate === "agent_message_chunk") return { who: "agent", text: textOf(fieldsOf(content)?.["text"]) };
  if (sessionUpdate !== "tool_call") return undefined;
  const input = rawInput === undefined ? "" : ` ${JSON.stringify(rawInput)}`;
  return { who: "tool", text: textOf(title) + input };
}
