import { mkdirSync } from "node:fs";
import path from "node:path";
import { type EvalRun, newIteration, runDirectoryOf, recordEvalRun } from "../../src/evals/recorded-runs.ts";

const told = (update: object): unknown => ({ method: "session/update", params: { sessionId: "s", update } });

/** A run of a case that passes with the skill, and not without it. */
export function inventRun(fields: Partial<EvalRun> = {}): EvalRun {
  const { withSkill = true } = fields;
  return {
    ...{
      id: "totals",
      number: 1,
      shouldTrigger: true,
      stopReason: "end_turn",
      durationMs: 1_500,
      rejected: 0,
      withSkill,
    },
    use: withSkill ? "used" : "unused",
    results: [{ text: "the answer matches 42", passed: withSkill, evidence: "<b>41</b> \u202e14", weight: 1 }],
    ...fields,
  };
}

/** Records runs as the next iteration, each with a session of a task, a tool call and an answer. */
export function recordEvals(workspace: string, runs: readonly EvalRun[]): void {
  const iteration = newIteration(workspace);
  for (const run of runs) {
    mkdirSync(path.join(runDirectoryOf(iteration, run), "outputs"), { recursive: true });
    const messages = [
      { method: "session/prompt", params: { prompt: [{ type: "text", text: "Add them." }] } },
      told({ sessionUpdate: "tool_call", toolCallId: "1", title: "Read", rawInput: { path: "data.csv" } }),
      { id: 1, method: "session/request_permission", params: { toolCall: { title: "Delete all" } } },
      told({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "It is " } }),
      told({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "<i>42</i>." } }),
    ];
    const entries = messages.map((message, index) => ({ line: index + 1, from: "agent" as const, message }));
    const { stopReason, durationMs, rejected } = run;
    recordEvalRun(iteration, run, {
      session: { entries, answer: "It is 42.", stopReason, durationMs, rejected },
      ...{ files: [], isCut: false, ledger: "" },
    });
  }
}
