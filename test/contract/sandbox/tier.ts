import { statSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect } from "vitest";
import { isSkillsError } from "../../../src/base/errors.ts";
import type { Json, RunEnd, RunHost, Sandbox, SandboxRun } from "../../../src/runtime/sandbox.ts";
import { type Bait, openBait } from "./bait.ts";
import { type HostState, hostState } from "./host-state.ts";
import { type HostRecord, recordingHost } from "./recording-host.ts";
import { missingTier } from "./required-tiers.ts";

/** Features of a tier that a run may need. */
export type Feature =
  | "code"
  | "skill"
  | "python script"
  | "bash script"
  | "node script"
  | "network"
  | "project"
  | "project of root's"
  | "packages"
  | "secrets"
  | "secrets sent for scripts"
  | "brokered";

/** A tier under test. */
export interface Tier {
  /** Its name. */
  readonly tier: string;
  /** `skip` states why the tier is unavailable on this machine. Called once; the suite closes the sandbox. */
  open(): Promise<Sandbox | { readonly skip: string }>;
  /** The supported features; the suite expects everything else to be refused. */
  readonly offers: readonly Feature[];
  /** Programs are processes of this machine's kernel: they can fork, make system calls and have resource limits. */
  readonly processes: boolean;
  /** The run has its own PID, network and IPC namespaces. */
  readonly namespaces: boolean;
  /** Absent: it isolates. */
  readonly isolates?: false;
}

/** The outcome of a run that was not refused. */
export interface Outcome {
  readonly end: RunEnd;
  readonly host: HostRecord;
}

/** An open tier for a test. */
export interface Trial {
  readonly tier: Tier;
  readonly sandbox: Sandbox;
  readonly bait: Bait;
  /** Options for tests that may run concurrently: they do in tiers whose runs are cheap. */
  readonly together: { readonly concurrent: boolean };
  /** The state of the host before the tier was opened. */
  readonly before: HostState;
  /**
   * Runs, passes the outcome to `check`, then asserts that the bait was not touched and nothing leaked.
   * If the tier lacks a feature that the run needs, asserts that it refuses the run, and does not call `check`.
   */
  run(run: SandboxRun, check: (outcome: Outcome) => void, options?: TrialOptions): Promise<void>;
}

interface TrialOptions {
  readonly answers?: Partial<RunHost>;
  readonly signal?: AbortSignal;
}

/** Opens the tier for the tests that `tests` declares; skips them with the tier's reason if it is unavailable. */
export function describeTier(name: string, tier: Tier, tests: (trial: Trial) => void): void {
  describe(name, { timeout: tier.processes ? 30_000 : 120_000 }, () => {
    let opened: Sandbox | { readonly skip: string } | undefined;
    let bait: Bait | undefined;
    let before: HostState | undefined;
    beforeAll(async () => {
      bait = await openBait();
      before = hostState();
      opened = await tier.open();
      const missing = "skip" in opened ? missingTier(tier.tier, opened.skip) : undefined;
      if (missing !== undefined) throw new Error(missing);
    }, 120_000);
    afterAll(async () => {
      if (opened !== undefined && !("skip" in opened)) await opened.close();
      await bait?.close();
    }, 60_000);
    beforeEach(({ skip }) => {
      if (opened !== undefined && "skip" in opened) skip(opened.skip);
    });

    const trial: Trial = {
      tier,
      together: { concurrent: tier.processes },
      get sandbox() {
        if (opened === undefined || "skip" in opened) throw new Error("The tier is not open.");
        return opened;
      },
      get bait() {
        if (bait === undefined) throw new Error("There is no bait.");
        return bait;
      },
      get before() {
        if (before === undefined) throw new Error("Nothing was looked at.");
        return before;
      },
      async run(run, check, { answers, signal = new AbortController().signal } = {}) {
        const { sandbox } = trial;
        const host = recordingHost(answers);
        if (!featuresOf(run).every((feature) => tier.offers.includes(feature))) {
          await expectRefusal(sandbox, run, host, signal);
          return;
        }
        expect(sandbox.refuses(run)).toBeUndefined();
        const end = await sandbox.run(run, host, signal);
        expectWellFormed(end);
        expectNothingLeaked(trial.bait, end, host.record);
        check({ end, host: host.record });
        expect(trial.bait.harm(), "harm done to the host").toEqual([]);
      },
    };

    tests(trial);
  });
}

export function featuresOf(run: SandboxRun): Feature[] {
  const { program } = run;
  const needed: Feature[] = [program.type === "script" ? `${program.language} script` : program.type];
  if (run.network.length > 0) needed.push("network");
  if (run.project !== undefined)
    needed.push("project", ...(isOfRoot(run.project) ? (["project of root's"] as const) : []));
  if (run.packages !== undefined) needed.push("packages");
  if (Object.keys(run.secrets).length > 0) needed.push("secrets");
  if (run.uses !== undefined && program.type === "script" && program.language !== "python")
    needed.push("secrets sent for scripts");
  if (run.brokered.length > 0) needed.push("brokered");
  return needed;
}

/** Whether it belongs to root and no other user could use it in this way. */
function isOfRoot({ directory, writable }: NonNullable<SandboxRun["project"]>): boolean {
  const { uid, mode } = statSync(directory);
  return process.getuid?.() === 0 && uid === 0 && (writable || (mode & 0o005) !== 0o005);
}

/** Asserts that the run is refused with a reason and nothing is started. */
async function expectRefusal(
  sandbox: Sandbox,
  run: SandboxRun,
  host: RunHost & { record: HostRecord },
  signal: AbortSignal,
): Promise<void> {
  expect(sandbox.refuses(run)).toMatch(/^[A-Z].{10,}\.$/s);
  await expectUnavailable(sandbox.run(run, host, signal));
  expect(host.record.events).toEqual([]);
}

/** Asserts that the run is rejected because nothing can be started. */
export async function expectUnavailable(refused: Promise<RunEnd>): Promise<void> {
  const thrown: unknown = await refused.then(
    (end) => new Error(`It ran, and ended as ${end.type}.`),
    (error: unknown) => error,
  );
  if (!isSkillsError(thrown)) throw new Error("expected a SkillsError", { cause: thrown });
  expect(thrown.code).toBe("SANDBOX_UNAVAILABLE");
}

/** Asserts that a result is well-formed, whatever the program sent. */
function expectWellFormed(end: RunEnd): void {
  const text = expect.any(String) as string;
  switch (end.type) {
    case "returned":
      expect(depthOf(end.value)).toBeLessThanOrEqual(200);
      if (end.summary !== undefined) expect(end.summary).toEqual(text);
      for (const id of end.outputBlobs ?? []) expect(id).toEqual(text);
      break;
    case "raised":
      expect(end.error).toMatchObject({ type: text, message: text });
      expect(depthOf(end.error.details ?? {})).toBeLessThanOrEqual(200);
      break;
    case "exited":
      expect(Number.isInteger(end.exitCode)).toBe(true);
      break;
    case "limit":
      expect(["timeout", "memory", "processes", "disk", "output"]).toContain(end.limit);
      break;
    case "crashed":
      expect(end.detail).toMatch(/./);
      break;
    case "cancelled":
  }
}

/** Without recursion: hostile values are nested deeper than the stack. */
function depthOf(value: Json): number {
  let depth = 0;
  let level: unknown[] = [value];
  while ((level = level.filter((item) => typeof item === "object" && item !== null)).length > 0) {
    depth++;
    level = level.flatMap((item) => Object.values(item as object) as unknown[]);
  }
  return depth;
}

function expectNothingLeaked(bait: Bait, end: RunEnd, host: HostRecord): void {
  const everything = [
    JSON.stringify(end),
    host.stdout,
    host.stderr,
    JSON.stringify(host.calls),
    ...host.blobs.map(({ content }) => content.toString("latin1")),
    ...[...host.outputs].flatMap(([path, content]) => [path, content.toString("latin1")]),
  ].join("\n");
  expect(
    bait.contents.filter((content) => everything.includes(content)),
    "contents that leaked",
  ).toEqual([]);
}
