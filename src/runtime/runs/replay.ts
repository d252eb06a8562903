import { buffer } from "node:stream/consumers";
import { isSkillsError } from "../../base/errors.ts";
import { parseIfJson } from "../../base/json/json-value.ts";
import { fromUse } from "../../skills/permissions.ts";
import type { RunEvent } from "../../wire/run-event.ts";
import type { BlobStore } from "../blobs.ts";
import type { Json } from "../sandbox.ts";
import type { PackageFinder } from "./execute/prepare-run.ts";
import { storedOutput } from "./record/whole-result.ts";
import { type RecordedRun, notReplayable, planReplay, readRecordedRun } from "./replay/plan-replay.ts";
import type { RunCaller } from "./run-caller.ts";
import type { RunResult, RunSpec } from "./run-spec.ts";
import type { RunStore, StoredRun } from "./run-store.ts";

/** A recorded run that was run again. */
export interface Replay extends ReplayComparison {
  readonly replays: string;
  /** Whether the output is the same. */
  readonly same: boolean;
  /** Sentences for the user about inputs that no digest names and that may have changed. */
  readonly notes: readonly string[];
  /** The spec of the new run. */
  readonly spec: RunSpec;
  readonly result: RunResult;
}

export interface ReplayOptions {
  readonly records: Pick<RunStore, "read" | "list">;
  readonly environment: PackageFinder;
  readonly newRunId: () => string;
  /** Checks and executes the run like any other run. */
  readonly run: (spec: RunSpec, caller: RunCaller, signal: AbortSignal) => Promise<RunResult>;
}

/**
 * Repeats a recorded run of any owner and compares the outcomes. Throws NOT_EXECUTABLE if bytes that it used or made are gone, and the
 * errors of any run that does not start.
 */
export async function replayRun(
  runId: string,
  given: RunCaller,
  signal: AbortSignal,
  { records, environment, newRunId, run }: ReplayOptions,
): Promise<Replay> {
  const recorded = await readRecordedRun(records, runId);
  const { spec, caller } = await planReplay(recorded, { runId: newRunId(), caller: given, environment, signal });
  const before = await outcomeBefore(recorded, given);
  const events: { readonly atMs: number; readonly type: string }[] = [];
  const onEvent = (event: RunEvent): void => {
    if (event.type === "blob_kept") events.push({ atMs: 0, ...event });
    given.onEvent?.(event);
  };
  const result = await run(spec, { ...caller, onEvent }, signal);
  const after = await readOutcome({ result, events }, caller.blobs, caller.owner);
  const comparison = compareOutcomes(before, after);
  const same = comparison.differences.length === 0;
  return { replays: runId, same, ...comparison, notes: notesOf(recorded, spec, result), spec, result };
}

async function outcomeBefore({ run }: RecordedRun, { blobs }: RunCaller): Promise<Outcome> {
  try {
    return await readOutcome(run, blobs, run.spec.owner);
  } catch (error) {
    if (!isSkillsError(error) || error.code !== "BLOB_NOT_FOUND") throw error;
    throw notReplayable(run.spec.runId, [`the blob ${String(error.facts.blobId)} of its output is no longer stored`]);
  }
}

function notesOf({ run, nested }: RecordedRun, { needs }: RunSpec, { limits_applied }: RunResult): readonly string[] {
  const all = [needs, ...nested.map(({ spec }) => spec.needs)];
  const uses = [...new Set(all.flatMap((each) => each.uses ?? []))].map(fromUse);
  const secrets = [...new Set([...all.flatMap((each) => each.secrets), ...uses.map(({ name }) => name)])];
  const network = [...new Set(all.flatMap((each) => each.network))];
  const { isolation } = run.result.limits_applied;
  return [
    ...(secrets.length === 0
      ? []
      : [`The values of ${secrets.join(", ")} were read again and may be others than then.`]),
    ...uses.map(
      ({ name, host }) =>
        `It may have sent ${name} to ${host} again, with requests that change something there, and other answers than then.`,
    ),
    ...(network.length === 0
      ? []
      : [`It may connect to ${network.join(", ")}, whose answers may be others than then.`]),
    ...(isolation === limits_applied.isolation
      ? []
      : [`It was isolated by ${isolation} then, and by ${limits_applied.isolation} now.`]),
  ];
}

/** The outcome of a run, without ids, times and durations, which no two runs share. */
export interface Outcome {
  readonly status: RunResult["status"];
  /** The output, with the ids of blobs replaced by the digests of their contents. */
  readonly output: Json | undefined;
  /** Why the run failed; for a script, with its exit code and printed text. */
  readonly error: Json | undefined;
  readonly blobs: readonly OutcomeBlob[];
  /** The texts of the run for the user. */
  readonly said: Readonly<Record<"summary" | "message" | "logs", string>>;
}

interface OutcomeBlob {
  /** The path of an output file; undefined for other blobs. */
  readonly path: string | undefined;
  readonly kind: string;
  readonly sha256: string;
}

type Ended = Pick<StoredRun, "events"> & { readonly result: RunResult };

/** Reads the outcome of a run. Throws BLOB_NOT_FOUND if a blob of its output is no longer stored. */
export async function readOutcome(
  { result, events }: Ended,
  blobs: Pick<BlobStore, "stat" | "read">,
  owner: string,
): Promise<Outcome> {
  const paths = new Map(events.map(({ blobId, path }) => [blobId, path]));
  const digests = new Map<string, string>();
  const made: OutcomeBlob[] = [];
  // All blobs of a result, including those that it only counts.
  const more = result.more_output_blobs?.blob_id;
  const others = more === undefined ? [] : (JSON.parse(await readText(blobs, owner, more)) as string[]);
  for (const id of [...result.output_blobs, ...others]) {
    const { kind, sha256 } = await blobs.stat(owner, id);
    const path = paths.get(id);
    digests.set(id, `blob sha256:${sha256}`);
    made.push({ path: typeof path === "string" ? path : undefined, kind, sha256 });
  }
  const plain = (text: string): string => text.replace(/blob:[0-9a-f]{32}/g, (id) => digests.get(id) ?? id);
  const { error, output, summary, logs_preview: logs, status } = result;
  // The program may have returned an object that only looks like a long output.
  const long = storedOutput(output);
  const isJson = long !== undefined && digests.has(long) && (await blobs.stat(owner, long)).kind === "application/json";
  // A blob of the program that is not JSON is compared by its digest.
  const whole = ((isJson ? parseIfJson(await readText(blobs, owner, long)) : undefined) ?? output) as Json | undefined;
  return {
    status,
    output: whole === undefined ? undefined : mapTexts(whole, plain),
    error: error === undefined ? undefined : mapTexts(errorOf(error), plain),
    blobs: made,
    said: { summary: plain(summary), message: plain(error?.message ?? ""), logs: plain(logs) },
  };
}

async function readText(blobs: Pick<BlobStore, "read">, owner: string, id: string): Promise<string> {
  return (await buffer(blobs.read(owner, id))).toString("utf8");
}

/** Returns the fields of an error that are compared; messages and tracebacks may name times and addresses. */
function errorOf({ type, code, details = {} }: NonNullable<RunResult["error"]>): Json {
  const { exit_code: exitCode, stdout, stderr } = details as Readonly<Record<string, Json | undefined>>;
  return {
    type,
    ...(code !== undefined && { code }),
    ...(exitCode !== undefined && { exit_code: exitCode }),
    ...(stdout !== undefined && { stdout }),
    ...(stderr !== undefined && { stderr }),
  };
}

function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => mapTexts(item, change));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [change(key), mapTexts(item, change)]));
}

const maxDifferences = 20;

export interface ReplayComparison {
  /** Empty if the output is the same; at most the first 20 differences. */
  readonly differences: readonly JsonDifference[];
  /** Differences that do not count: those in the texts of the runs for the user. */
  readonly asides: readonly JsonDifference[];
}

/** Compares the outcome of a run with that of the run that it repeats. Pure. */
export function compareOutcomes(before: Outcome, after: Outcome): ReplayComparison {
  const differences = [
    ...(before.status === after.status ? [] : [{ where: "status", before: before.status, after: after.status }]),
    ...jsonDifferences("output", before.output, after.output, maxDifferences),
    ...jsonDifferences("error", before.error, after.error, maxDifferences),
    ...blobDifferences(before.blobs, after.blobs),
  ];
  const asides = (["summary", "message", "logs"] as const).flatMap((what) =>
    before.said[what] === after.said[what] ? [] : [textDifference(what, before.said[what], after.said[what])],
  );
  return { differences: differences.slice(0, maxDifferences), asides };
}

/** Output files are compared by path; other blobs as a collection without order, by kind and content. */
function blobDifferences(before: readonly OutcomeBlob[], after: readonly OutcomeBlob[]): readonly JsonDifference[] {
  const [left, right] = [group(before), group(after)];
  return [...new Set([...left.keys(), ...right.keys()])].sort().flatMap((where) => {
    const [one = [], other = []] = [left.get(where), right.get(where)];
    const [gone, made] = [without(one, other), without(other, one)];
    return Array.from({ length: Math.max(gone.length, made.length) }, (_, index) => ({
      where,
      before: gone[index],
      after: made[index],
    }));
  });
}

/** Groups the digests of blobs by path or, for blobs without one, by kind. */
function group(blobs: readonly OutcomeBlob[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { path, kind, sha256 } of blobs) {
    const where = path === undefined ? `blob of kind ${kind}` : `file ${JSON.stringify(path)}`;
    groups.set(where, [...(groups.get(where) ?? []), `sha256:${sha256}`]);
  }
  return groups;
}

/** Returns the texts of `all` without those of `others`; a repeated text is removed as often as it is in `others`; sorted. */
function without(all: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others];
  return all.toSorted().filter((one) => {
    const index = left.indexOf(one);
    if (index !== -1) left.splice(index, 1);
    return index === -1;
  });
}

/** A position at which two values differ, as text for the user; a value is undefined if it has nothing there. */
export interface JsonDifference {
  readonly where: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

const maxShownLength = 120;

/**
 * Lists at most `limit` differences of two JSON values; `where` is the given text, continued as a JSON pointer. The order of an object's
 * keys is no difference. Recursive: values are at most 200 levels deep.
 */
export function jsonDifferences(
  where: string,
  before: Json | undefined,
  after: Json | undefined,
  limit: number,
): readonly JsonDifference[] {
  const found: JsonDifference[] = [];
  const compare = (where: string, one: Json | undefined, other: Json | undefined): void => {
    if (found.length >= limit || one === other) return;
    if (typeof one === "string" && typeof other === "string") {
      found.push(textDifference(where, one, other));
      return;
    }
    const [left, right] = [entriesOf(one), entriesOf(other)];
    if (left === undefined || right === undefined || Array.isArray(one) !== Array.isArray(other)) {
      found.push({ where, before: toShown(one), after: toShown(other) });
      return;
    }
    for (const key of new Set([...left.keys(), ...right.keys()]))
      compare(`${where}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, left.get(key), right.get(key));
  };
  compare(where, before, after);
  return found;
}

/** Returns the first line in which two texts differ; of a long line, only the text from 20 characters before the difference. */
export function textDifference(where: string, before: string, after: string): JsonDifference {
  const [left, right] = [before.split("\n"), after.split("\n")];
  const line = left.findIndex((text, index) => text !== right[index]);
  const at = line === -1 ? left.length : line;
  const [one, other] = [left[at], right[at]];
  const position = left.length === 1 && right.length === 1 ? where : `${where} line ${at + 1}`;
  if (one === undefined || other === undefined) return { where: position, before: toShown(one), after: toShown(other) };
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  const start = one.length <= maxShownLength && other.length <= maxShownLength ? 0 : Math.max(0, same - 20);
  const from = (text: string): string => (start === 0 ? text : `…${text.slice(start)}`);
  return { where: position, before: toShown(from(one)), after: toShown(from(other)) };
}

function entriesOf(value: Json | undefined): ReadonlyMap<string, Json> | undefined {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)) : undefined;
}

/** Writes a value as compact JSON, shortened. */
function toShown(value: Json | undefined): string | undefined {
  if (value === undefined) return undefined;
  const json = JSON.stringify(value);
  return json.length <= maxShownLength ? json : `${json.slice(0, maxShownLength - 1)}…`;
}
