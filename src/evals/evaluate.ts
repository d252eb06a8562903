import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AgentCommand } from "../acp/wrap-command.ts";
import type { Clock } from "../base/clock.ts";
import { attempt } from "../base/failures/system-error.ts";
import { formatTranscriptEntry } from "../conformance/transcript.ts";
import type { SkillsOptions } from "../runtime/options.ts";
import type { Sandbox } from "../runtime/ports.ts";
import { type OutputFile, makeCaseDirectory } from "./case-directory.ts";
import { grade } from "./grade.ts";
import { judgeInWords } from "./judge.ts";
import { recogniseUse } from "./recognise-use.ts";
import { type EvalSession, runSession } from "./run-session.ts";
import { type Benchmark, type EvalRun, passRate, toBenchmark } from "./statistics.ts";
import type { EvalCase } from "../skills/check.ts";

export interface EvaluateOptions {
  readonly skill: { readonly directory: string; readonly name: string; readonly slug: string };
  readonly cases: readonly EvalCase[];
  readonly agent: AgentCommand;
  /** The agent that judges assertions in words. */
  readonly judge: AgentCommand | undefined;
  /** How often each case runs, with the skill and without it. */
  readonly runs: number;
  /** False: only with the skill. */
  readonly comparesWithout: boolean;
  /** False: the skill is the only one of ours that the agent has. */
  readonly keepsOthers: boolean;
  /** In milliseconds, for each session. */
  readonly timeout: number;
  readonly options: SkillsOptions;
  /** Where results are recorded, each run as soon as it is done. */
  readonly workspace: string;
  readonly openSandbox: () => Promise<Sandbox>;
  readonly clock: Clock;
  /** Ends what is under way; what is done stays. */
  readonly signal: AbortSignal;
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
 * Runs each case in fresh sessions of an agent, with the skill and without it, and grades what they leave. The skill's text is never put
 * into a prompt: whether the agent finds and uses it is what is measured. Rejects only if results cannot be written, or a file of a case
 * is missing.
 */
export async function evaluate(options: EvaluateOptions): Promise<Evaluation> {
  const { cases, comparesWithout, signal, onProgress, skill } = options;
  const iteration = newIteration(options.workspace);
  const runs: EvalRun[] = [];
  const finish = (): Benchmark => {
    const found = toBenchmark(runs);
    writeJson(path.join(iteration, "benchmark.json"), { skill_name: skill.name, ...found });
    return found;
  };
  let benchmark = finish();
  const all = cases.length * options.runs * (comparesWithout ? 2 : 1);
  for (const one of cases)
    for (let number = 1; number <= options.runs; number++)
      for (const withSkill of comparesWithout ? [true, false] : [true]) {
        if (signal.aborted) return { iteration, runs, benchmark };
        onProgress(
          `${one.id}, run ${number} ${withSkill ? "with" : "without"} the skill (${runs.length + 1} of ${all})`,
        );
        const run = await runOnce({ one, number, withSkill, iteration }, options);
        if (run !== undefined) runs.push(run);
        benchmark = finish();
      }
  return { iteration, runs, benchmark };
}

interface Once {
  readonly one: EvalCase;
  readonly number: number;
  readonly withSkill: boolean;
  readonly iteration: string;
}

/** Undefined if it was interrupted. */
async function runOnce(
  { one, number, withSkill, iteration }: Once,
  options: EvaluateOptions,
): Promise<EvalRun | undefined> {
  const { skill, agent, timeout, clock, signal, keepsOthers, openSandbox } = options;
  const project = makeCaseDirectory(skill, one, withSkill);
  const { directory } = project;
  const place = path.join(iteration, `eval-${one.id}`, withSkill ? "with_skill" : "without_skill", `run-${number}`);
  mkdirSync(path.join(place, "outputs"), { recursive: true });
  const audit = path.join(place, "ledger.ndjson");
  const given: SkillsOptions = {
    ...options.options,
    audit,
    // Nobody is there to trust the project, which is ours.
    grants: [...(options.options.grants ?? []), directory],
    ...(!keepsOthers && {
      defaultRoots: false,
      directories: withSkill ? [path.join(directory, ".agents", "skills")] : [],
    }),
  };
  try {
    const session = await runSession({
      ...agent,
      cwd: directory,
      prompt: one.prompt,
      options: given,
      timeout,
      clock,
      signal,
    });
    if (signal.aborted) return undefined;
    const { files, isCut } = project.outputs();
    const { prompt, expectedOutput } = one;
    const results = await grade(one.assertions, {
      ...{ session, files, skill, openSandbox, signal },
      judge:
        options.judge === undefined
          ? undefined
          : (texts) =>
              judgeInWords(texts, { prompt, expectedOutput, answer: session.answer, files }, (question) =>
                askJudge(question, options),
              ),
    });
    const { stopReason, fault, durationMs, tokens, rejected, entries } = session;
    const run: EvalRun = {
      ...{ id: one.id, number, withSkill, shouldTrigger: one.shouldTrigger, results },
      use: recogniseUse(
        entries,
        skill.name,
        attempt(() => readFileSync(audit, "utf8"), ""),
      ),
      ...{ stopReason, durationMs, rejected },
      ...(fault !== undefined && { fault }),
      ...(isCut && { isCut }),
      ...(tokens !== undefined && { tokens }),
    };
    record(place, run, session, files);
    return run;
  } finally {
    project.remove();
  }
}

/** In an empty directory, without skills: the session sees only what the question has. */
async function askJudge(prompt: string, options: EvaluateOptions): Promise<EvalSession> {
  const { skill, timeout, clock, signal, judge: agent } = options;
  const empty: EvalCase = {
    id: "judge",
    prompt,
    expectedOutput: undefined,
    files: [],
    assertions: [],
    shouldTrigger: false,
  };
  const project = makeCaseDirectory(skill, empty, false);
  try {
    const none: SkillsOptions = { announce: "none", tools: "none" };
    return await runSession({
      command: "",
      ...agent,
      cwd: project.directory,
      prompt,
      options: none,
      timeout,
      clock,
      signal,
    });
  } finally {
    project.remove();
  }
}

/** `iteration-1`, `iteration-2` and so on. */
function newIteration(workspace: string): string {
  mkdirSync(workspace, { recursive: true });
  const numbers = readdirSync(workspace).map((name) => Number(/^iteration-(\d{1,6})$/.exec(name)?.[1] ?? 0));
  const directory = path.join(workspace, `iteration-${Math.max(0, ...numbers) + 1}`);
  mkdirSync(directory);
  return directory;
}

/** In the files of the Agent Skills guide, so that others' viewers read them. */
function record(directory: string, run: EvalRun, session: EvalSession, files: readonly OutputFile[]): void {
  for (const { path: name, bytes } of files) {
    const target = path.join(directory, "outputs", name);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, bytes);
  }
  writeFileSync(path.join(directory, "answer.md"), session.answer);
  writeFileSync(path.join(directory, "transcript.ndjson"), session.entries.map(formatTranscriptEntry).join(""));
  const { results, ...rest } = run;
  const judged = results.filter(({ passed }) => passed !== null);
  const passed = judged.filter((result) => result.passed).length;
  const summary = {
    passed,
    failed: judged.length - passed,
    total: judged.length,
    pass_rate: passRate(results) ?? null,
  };
  writeJson(path.join(directory, "grading.json"), { assertion_results: results, summary });
  writeJson(path.join(directory, "timing.json"), { total_tokens: run.tokens ?? null, duration_ms: run.durationMs });
  writeJson(path.join(directory, "run.json"), rest);
}

function writeJson(file: string, value: object): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
