import { mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import type { AgentCommand } from "../acp/wrap-command.ts";
import { attempt } from "../base/failures/system-error.ts";
import { SkillsError } from "../base/errors.ts";
import type { SkillsOptions } from "../runtime/options.ts";
import type { Sandbox } from "../runtime/ports.ts";
import { makeCaseDirectory } from "./case-directory.ts";
import { grade } from "./grade.ts";
import { judgeInWords } from "./judge.ts";
import { recogniseUse } from "./recognise-use.ts";
import {
  type EvalRun,
  ledgerName,
  newIteration,
  type EvalObservations,
  runDirectoryOf,
  readObserved,
  recordEvalRun,
  writeJson,
} from "./recorded-runs.ts";
import { type EvalSession, type EvalRequest, runSession } from "./run-session.ts";
import { type Benchmark, toBenchmark } from "./statistics.ts";
import type { EvalCase } from "../skills/check.ts";

export interface EvaluateOptions extends Pick<EvalRequest, "timeoutMs" | "maxCalls" | "clock" | "signal"> {
  readonly skill: { readonly directory: string; readonly name: string; readonly slug: string };
  readonly cases: readonly EvalCase[];
  readonly agent: AgentCommand;
  /** The agent that judges assertions in words. */
  readonly judge: AgentCommand | undefined;
  /** How often each case runs with the skill, and as often without it. */
  readonly runs: number;
  /** Whether each case also runs without the skill. */
  readonly comparesWithout: boolean;
  /** Whether the agent also has the other skills that acp-skills finds. */
  readonly keepsOthers: boolean;
  readonly options: SkillsOptions;
  /** The recorded sessions to grade instead of new ones. */
  readonly replay: { readonly iteration: string; readonly runs: readonly EvalRun[] } | undefined;
  /** The directory of the results; each run is recorded as soon as it is done. */
  readonly workspace: string;
  readonly openSandbox: () => Promise<Sandbox>;
  /** Must not throw. */
  readonly onProgress: (activity: string) => void;
}

export interface Evaluation {
  /** The directory of the results. */
  readonly iteration: string;
  readonly runs: readonly EvalRun[];
  readonly benchmark: Benchmark;
}

/**
 * Runs each case in fresh sessions of an agent, with the skill and without it, and grades the results. A replay grades recorded sessions
 * instead. The skill's text is never put into a prompt, to measure whether the agent finds and uses the skill. Rejects only if results
 * cannot be written, a file of a case is missing, or, with AGENT_NOT_EXECUTABLE, the agent does not start.
 */
export async function evaluate(options: EvaluateOptions): Promise<Evaluation> {
  const { signal, onProgress, skill, replay } = options;
  const planned = plan(options);
  const iteration = newIteration(options.workspace);
  const runs: EvalRun[] = [];
  const finish = (): Benchmark => {
    const found = toBenchmark(runs);
    writeJson(path.join(iteration, "benchmark.json"), { skill_name: skill.name, ...found });
    return found;
  };
  let benchmark = finish();
  const isInterrupted = (): boolean => signal.aborted;
  for (const once of planned) {
    if (isInterrupted()) break;
    const { one, number, withSkill } = once;
    onProgress(
      `${one.id}, run ${number} ${withSkill ? "with" : "without"} the skill (${runs.length + 1} of ${planned.length})`,
    );
    const folder = runDirectoryOf(iteration, { id: one.id, withSkill, number });
    mkdirSync(path.join(folder, "outputs"), { recursive: true });
    const seen =
      replay === undefined || once.recorded === undefined
        ? await runOnce(once, folder, options)
        : readObserved(replay.iteration, once.recorded);
    if (isInterrupted()) break;
    if (runs.length === 0 && seen.session.hasStarted !== true) {
      rmSync(iteration, { recursive: true });
      throw new SkillsError("AGENT_NOT_EXECUTABLE", `The agent does not start: ${seen.session.fault ?? "no answer"}.`);
    }
    const run = await toRun(once, seen, options);
    recordEvalRun(iteration, run, seen);
    runs.push(run);
    benchmark = finish();
  }
  return { iteration, runs, benchmark };
}

interface Once {
  readonly one: EvalCase;
  readonly number: number;
  readonly withSkill: boolean;
  /** The recorded run, for a replay. */
  readonly recorded?: EvalRun;
}

function plan({ cases, runs, comparesWithout, replay }: EvaluateOptions): readonly Once[] {
  if (replay !== undefined)
    return replay.runs.flatMap((recorded) => {
      const { id, number, withSkill } = recorded;
      const one = cases.find((other) => other.id === id);
      return one === undefined ? [] : [{ one, number, withSkill, recorded }];
    });
  const numbers = Array.from({ length: runs }, (_, index) => index + 1);
  return cases.flatMap((one) =>
    numbers.flatMap((number) =>
      (comparesWithout ? [true, false] : [true]).map((withSkill) => ({ one, number, withSkill })),
    ),
  );
}

async function runOnce({ one, withSkill }: Once, folder: string, options: EvaluateOptions): Promise<EvalObservations> {
  const { skill, agent, keepsOthers } = options;
  const project = makeCaseDirectory(skill, one, withSkill);
  const { directory } = project;
  const audit = path.join(folder, ledgerName);
  const given: SkillsOptions = {
    ...options.options,
    audit,
    // Trusts the project, which acp-skills made: there is no user to ask.
    grants: [...(options.options.grants ?? []), directory],
    ...(!keepsOthers && {
      defaultRoots: false,
      directories: withSkill ? [path.join(directory, ".agents", "skills")] : [],
    }),
  };
  try {
    const session = await runSession({ ...options, ...agent, cwd: directory, prompt: one.prompt, options: given });
    return { session, ...project.outputs(), ledger: attempt(() => readFileSync(audit, "utf8"), "") };
  } finally {
    project.remove();
  }
}

/** Grades a session, and determines whether it used the skill. */
async function toRun(
  { one, number, withSkill }: Once,
  seen: EvalObservations,
  options: EvaluateOptions,
): Promise<EvalRun> {
  const { skill, signal, openSandbox, judge } = options;
  const { session, files, isCut, ledger } = seen;
  const { prompt, expectedOutput, shouldTrigger } = one;
  const judged = { prompt, expectedOutput, answer: session.answer, files };
  const results = await grade(one.assertions, {
    ...{ session, files, skill, openSandbox, signal },
    judge: judge && ((texts) => judgeInWords(texts, judged, (question) => askJudge(question, judge, options))),
  });
  const { stopReason, fault, durationMs, tokens, rejected, entries } = session;
  return {
    ...{ id: one.id, number, withSkill, shouldTrigger, results },
    use: recogniseUse(entries, skill.name, ledger),
    ...{ stopReason, durationMs, rejected },
    ...(fault !== undefined && { fault }),
    ...(isCut && { isCut }),
    ...(tokens !== undefined && { tokens }),
  };
}

/** Asks the judge in an empty directory, without skills, so that the session sees only the question. */
async function askJudge(prompt: string, judge: AgentCommand, options: EvaluateOptions): Promise<EvalSession> {
  const project = makeCaseDirectory(options.skill, { id: "judge", files: [] }, false);
  const none: SkillsOptions = { announce: "none", tools: "none" };
  try {
    return await runSession({ ...options, ...judge, cwd: project.directory, prompt, options: none });
  } finally {
    project.remove();
  }
}
