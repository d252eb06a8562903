import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { systemClock } from "../../../base/clock.ts";
import { attempt } from "../../../base/failures/system-error.ts";
import { parseIfJson } from "../../../base/json/json-value.ts";
import { shownPath } from "../../../base/paths/location.ts";
import { counted } from "../../../base/text/code-points.ts";
import type { EvaluateOptions, Evaluation } from "../../../evals/evaluate.ts";
import { type EvalRun, readRuns } from "../../../evals/recorded-runs.ts";
import type { Benchmark, CaseSummary, Configuration, Share } from "../../../evals/statistics.ts";
import { readOptions } from "../../../runtime/options.ts";
import { openRunEnvironment } from "../../../runtime/runs.ts";
import { type EvalCase, readEvalCases } from "../../../skills/check.ts";
import { describeSkillText } from "../../../skills/document.ts";
import { toSlug } from "../../../skills/skill.ts";
import { toAbsolute, toWords } from "../../arguments/values.ts";
import { defineCommand, exit, flag, text, texts, usageError } from "../../command.ts";
import { jsonObject } from "../../report/json-output.ts";
import { safeText } from "../../report/safe-text.ts";
import { table } from "../../report/table.ts";
import { type Terminal, interruptible } from "../../report/terminal.ts";

export const command = defineCommand({
  usage: "eval SKILL [options] -- AGENT [ARG…]",
  takesRest: true,
  positionals: { name: "SKILL", minimum: 1, maximum: 1, values: "files" },
  options: {
    runs: text("N", "How often each case runs, with the skill and without it. Default: 3."),
    case: texts("ID", "Only this case. Repeatable."),
    judge: text(
      "COMMAND",
      "An agent that judges assertions in words, such as 'claude-agent-acp'; never the session itself.",
    ),
    "with-only": flag("Run only with the skill."),
    alone: flag("Leave out your other skills."),
    timeout: text("SECONDS", "How long a session may take. Default: 600."),
    calls: text("N", "How many tool calls a session may make. Default: 200."),
    workspace: text("DIR", "Where results are recorded. Default: NAME-workspace in the current directory."),
    baseline: text("DIR", "An earlier iteration: exits with 1 if its pass rate was higher."),
    replay: text(
      "DIR",
      "Grade the sessions of an earlier iteration again, without the agent: after a change of assertions.",
    ),
    policy: text("FILE", "A policy that says what skills may do. Everything else is rejected: nobody is asked."),
    json: flag("Print JSON."),
  },
  examples: [
    "eval .agents/skills/pdf -- claude-agent-acp",
    "eval ./pdf --runs 5 --judge 'gemini --acp' -- codex-acp",
    "eval ./pdf --with-only --baseline pdf-workspace/iteration-1 -- opencode acp",
    "eval ./pdf --replay pdf-workspace/iteration-1",
  ],
  notes: [
    'Cases are in evals/evals.json of the skill: {"evals": [{"id", "prompt", "files", "assertions", "should_trigger"}]}.',
    'An assertion is a sentence, for the judge; or {"pattern", "in"?}, {"file"}, or {"script", "args"?}: a script of the',
    "  skill in the sandbox, with the answer as stdin and the session's files in /skills/eval.outputs. It passes with exit 0.",
    "Each session costs what your agent costs. The skill's text is never put into a prompt: whether it is found is measured, too.",
    "Exits with 1 if the skill makes it worse: than the baseline, or else than without the skill; or if no session worked.",
  ],
  async run({ options, positionals: [given = ""], rest = [] }, terminal) {
    const [agent = "", ...args] = withRealPaths(rest, terminal.cwd);
    if (agent === "" && options.replay === undefined)
      throw usageError("missing agent; write: acp-skills eval SKILL -- AGENT [ARG…]");
    const skill = findSkill(given, terminal.cwd);
    const { evaluate } = await import("../../../evals/evaluate.ts");
    const cases = (await readEvalCases(skill.directory)).filter(
      ({ id }) => options.case === undefined || options.case.includes(id),
    );
    if (cases.length === 0) throw usageError(`--case ${(options.case ?? []).join(", ")}: there is no such case`);
    const replay = options.replay === undefined ? undefined : readReplay(toAbsolute(options.replay), cases);
    const before = options.baseline === undefined ? undefined : readBaseline(toAbsolute(options.baseline));
    const settings = readOptions({ log: terminal.log }, { home: terminal.home });
    const environment = openRunEnvironment(settings);
    const [judge, ...judgeArgs] = withRealPaths(toWords(options.judge ?? ""), terminal.cwd);
    try {
      return await interruptible(terminal, async (signal) => {
        const evaluation = await evaluate({
          ...{ skill, cases, replay, signal, clock: systemClock },
          agent: { command: agent, args },
          judge: judge === undefined ? undefined : { command: judge, args: judgeArgs },
          runs: toCount("--runs", options.runs, 3, 100),
          timeoutMs: toCount("--timeout", options.timeout, 600, 86_400) * 1_000,
          maxCalls: toCount("--calls", options.calls, 200, 100_000),
          comparesWithout: options["with-only"] !== true,
          keepsOthers: options.alone !== true,
          options: { log: terminal.log, ...(options.policy !== undefined && { policy: toAbsolute(options.policy) }) },
          workspace: toAbsolute(options.workspace ?? `${skill.slug}-workspace`),
          openSandbox: environment.sandbox,
          onProgress: (activity) => terminal.progress.show(activity),
        });
        terminal.progress.done();
        const worse = findWorse(evaluation, before);
        if (options.json === true) {
          const { iteration: directory, ...found } = evaluation;
          await terminal.print([jsonObject({ skill: skill.name, directory, ...found, worse: worse ?? null })]);
        } else await terminal.print(report(evaluation, terminal));
        if (worse !== undefined) terminal.note(worse);
        const unjudged = options.judge === undefined ? countUnjudged(evaluation.runs) : 0;
        if (unjudged > 0)
          terminal.note(`${counted(unjudged, "result")} in words not judged: --judge COMMAND names an agent that does`);
        if (signal.aborted) terminal.note(`interrupted; ${counted(evaluation.runs.length, "run")} recorded`);
        return signal.aborted ? exit.interrupted : worse === undefined ? exit.done : exit.found;
      });
    } finally {
      await environment.close();
    }
  },
});

/** Makes the names of existing files in a command absolute, because agents start in directories of their own. */
function withRealPaths(command: readonly string[], cwd: string): readonly string[] {
  return command.map((word, index) => {
    const file = path.resolve(cwd, word);
    const isProgram = index === 0 && !/[/\\]/.test(word);
    return !isProgram && attempt(() => statSync(file).isFile(), false) ? file : word;
  });
}

function countUnjudged(runs: readonly EvalRun[]): number {
  return runs.flatMap(({ results }) => results).filter(({ passed }) => passed === null).length;
}

function findSkill(
  given: string,
  cwd: string,
): { readonly directory: string; readonly name: string; readonly slug: string } {
  const roots = [path.resolve(cwd, given.replace(/[/\\]SKILL\.md$/, "")), path.join(cwd, ".agents", "skills", given)];
  const found = roots.find((directory) => existsSync(path.join(directory, "SKILL.md")));
  if (found === undefined) throw usageError(`${given} is no directory of a skill: it has no SKILL.md`);
  const directory = realpathSync(found);
  const { name = path.basename(directory) } = describeSkillText(readFileSync(path.join(directory, "SKILL.md"), "utf8"));
  const slug = toSlug(name);
  if (slug === undefined) throw usageError(`${given}: ${name} is no name of a skill; see acp-skills check`);
  return { directory, name, slug };
}

function toCount(option: string, value: string | undefined, usual: number, max: number): number {
  if (value === undefined) return usual;
  const count = /^\d{1,6}$/.test(value) ? Number(value) : 0;
  if (count < 1 || count > max) throw usageError(`${option} needs 1 to ${max}, not ${value}`);
  return count;
}

function readBaseline(directory: string): Benchmark {
  const file = path.join(directory, "benchmark.json");
  const value = parseIfJson(attempt(() => readFileSync(file, "utf8"), "")) as Partial<Benchmark> | undefined;
  if (value?.run_summary?.with_skill === undefined)
    throw usageError(`--baseline ${directory}: there is no usable benchmark.json`);
  return value as Benchmark;
}

function readReplay(iteration: string, cases: readonly EvalCase[]): NonNullable<EvaluateOptions["replay"]> {
  const runs = readRuns(iteration).filter((run) => cases.some(({ id }) => id === run.id));
  if (runs.length === 0) throw usageError(`--replay ${iteration}: there are no recorded runs of these cases`);
  return { iteration, runs };
}

/** A sentence about what the skill makes worse, or that no session worked; undefined if neither is so. */
function findWorse({ benchmark, runs }: Evaluation, before: Benchmark | undefined): string | undefined {
  if (runs.length > 0 && runs.every(({ fault }) => fault !== undefined))
    return `no session worked: ${runs[0]?.fault ?? ""}`;
  const { with_skill: now, without_skill: without } = benchmark.run_summary;
  const [rate, other] = [now?.pass_rate?.mean, (before?.run_summary.with_skill ?? without)?.pass_rate?.mean];
  if (rate === undefined || other === undefined || rate >= other) return undefined;
  return `worse than ${before === undefined ? "without the skill" : "the baseline"}: ${percent(rate)} of assertions pass instead of ${percent(other)}`;
}

function* report({ runs, benchmark, iteration }: Evaluation, terminal: Terminal): Iterable<string> {
  const cell = (one: Configuration | undefined): string => {
    if (one?.pass_rate !== undefined) return percent(one.pass_rate.mean);
    return one === undefined ? "" : one.failed === one.runs ? "failed" : "not judged";
  };
  const used = ({ use, shouldTrigger }: CaseSummary): string =>
    use === undefined ? "cannot be seen" : `${use.count} of ${use.of}${shouldTrigger ? "" : " (should not)"}`;
  yield* table(
    ["CASE", "WITH", "WITHOUT", "USED", "WHAT DID NOT HOLD WITH IT"],
    benchmark.cases.map((one) => [
      ...[one.id, cell(one.with_skill), cell(one.without_skill), used(one)],
      safeText(faultsOf(runs, one.id)),
    ]),
    terminal,
  );
  const { with_skill: inside, without_skill: outside } = benchmark.run_summary;
  const line = (name: string, one: typeof inside): string => {
    if (one === undefined) return "";
    const { pass_rate, time_seconds, tokens, failed } = one;
    const facts = [
      pass_rate === undefined ? "nothing judged" : `${percent(pass_rate.mean)} of assertions`,
      `${time_seconds.mean} s a session`,
      ...(tokens === undefined ? [] : [`${Math.round(tokens.mean)} tokens`]),
      ...(failed === 0 ? [] : [counted(failed, "failed session")]),
    ];
    return `${name}: ${facts.join(", ")}\n`;
  };
  yield `\n${line("with the skill", inside)}${line("without it", outside)}${verdictOf(benchmark.cases)}`;
  const { precision, recall, unseen } = benchmark.triggering;
  yield shareLine("used where it should be", recall);
  yield shareLine("used only where it should be", precision);
  if (unseen > 0) yield `cannot be seen in ${counted(unseen, "run")}: the agent handed its work on\n`;
  const rejected = runs.reduce((sum, run) => sum + run.rejected, 0);
  if (rejected > 0)
    yield `${counted(rejected, "permission request")} rejected: nobody is asked in an eval; --policy allows more\n`;
  yield `recorded in ${shownPath(iteration, terminal.cwd)}\n`;
}

/** A verdict on whether the skill helps, by the cases that were judged both with it and without it. */
function verdictOf(cases: readonly CaseSummary[]): string {
  let [better, worse, same] = [0, 0, 0];
  for (const { with_skill, without_skill } of cases) {
    const [inside, outside] = [with_skill?.pass_rate?.mean, without_skill?.pass_rate?.mean];
    if (inside === undefined || outside === undefined) continue;
    if (inside > outside) better++;
    else if (inside < outside) worse++;
    else same++;
  }
  if (better + worse + same === 0) return "";
  const verdict = better > worse ? "the skill helps" : better < worse ? "the skill does harm" : "no difference";
  return `${verdict}: better in ${counted(better, "case")}, worse in ${worse}, the same in ${same}\n`;
}

function shareLine(name: string, share: Share | undefined): string {
  if (share === undefined) return "";
  const { count, of, low, high } = share;
  return `${name}: ${count} of ${of} (95 %: ${percent(low)} to ${percent(high)})\n`;
}

function faultsOf(runs: readonly EvalRun[], id: string): string {
  const own = runs.filter((run) => run.id === id && run.withSkill);
  const faults = own.flatMap(
    ({ fault, results }) => fault ?? results.filter(({ passed }) => passed === false).map(({ text: words }) => words),
  );
  return [...new Set(faults)].join("; ");
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
