import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import type { EvalLog, SkillEvals } from "../../../../src/browser/wire/evals.ts";
import { toBenchmark } from "../../../../src/evals/statistics.ts";
import { inventRun, recordEvals } from "../../../evals/record-evals.ts";
import { type OpenBrowse, openBrowse, skillText } from "../open-browse.ts";

let browse: OpenBrowse;
afterEach(() => browse.close());

const evalsOf = async (): Promise<SkillEvals> =>
  (await browse.ask("/api/skills/csv-facts/evals")).json() as unknown as SkillEvals;
const askSession = (query: string) => browse.ask(`/api/skills/csv-facts/evals/session?${query}`);
const first = "iteration=1&id=totals&withSkill=true&number=1";

test("has what was evaluated in the project, the newest first, and what was said in each session", async () => {
  browse = await openBrowse({ skills: { "csv-facts/SKILL.md": skillText("csv-facts") } });
  expect((await evalsOf()).iterations).toEqual([]);
  const workspace = path.join(browse.directory, "..", "project", "csv-facts-workspace");
  const runs = [inventRun(), inventRun({ withSkill: false })];
  recordEvals(workspace, runs);
  recordEvals(workspace, [inventRun({ results: [] })]);
  const found = await evalsOf();
  expect(found.iterations).toMatchObject([
    { number: 2, runs: [inventRun({ results: [] })], benchmark: { cases: [{ id: "totals" }] } },
    {
      number: 1,
      runs: runs.map((run) => ({ ...run, rate: run.withSkill ? 1 : 0 })),
      benchmark: toBenchmark(runs),
    },
  ]);
  const { lines } = (await askSession(first)).json() as unknown as EvalLog;
  expect(lines).toEqual([
    { who: "user", text: "Add them." },
    { who: "tool", text: 'Read {"path":"data.csv"}' },
    { who: "permission", text: "Delete all" },
    { who: "agent", text: "It is <i>42</i>." },
  ]);
});

test("reads nothing outside of the workspace, and nothing that has another form", async () => {
  browse = await openBrowse({ skills: { "csv-facts/SKILL.md": skillText("csv-facts") } });
  const workspace = path.join(browse.directory, "..", "project", "csv-facts-workspace");
  recordEvals(workspace, [inventRun()]);
  const elsewhere = path.join(browse.directory, "..", "project", "elsewhere");
  recordEvals(elsewhere, [inventRun()]);
  mkdirSync(path.join(workspace, "iteration-2"));
  symlinkSync(path.join(elsewhere, "iteration-1", "runs.ndjson"), path.join(workspace, "iteration-2", "runs.ndjson"));
  mkdirSync(path.join(workspace, "iteration-3"));
  writeFileSync(path.join(workspace, "iteration-3", "runs.ndjson"), '{"id": "../x", "withSkill": true}\nno JSON\n');
  expect((await evalsOf()).iterations.map(({ number, runs }) => [number, runs.length])).toEqual([
    [3, 0],
    [2, 0],
    [1, 1],
  ]);
  for (const query of [
    "iteration=9&id=totals&withSkill=true&number=1",
    "iteration=1&id=..%2F..%2F..%2Felsewhere%2Fiteration-1%2Feval-totals&withSkill=true&number=1",
    "iteration=1&id=totals&withSkill=yes%2Fno&number=1",
    "iteration=1",
  ]) {
    const { status, json } = await askSession(query);
    expect([status, json().error.code], query).toEqual([404, "FILE_NOT_FOUND"]);
  }
});
