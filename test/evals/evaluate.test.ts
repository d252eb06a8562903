import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { type EvaluateOptions, type Evaluation, evaluate } from "../../src/evals/evaluate.ts";
import { readIterations, readRuns, readSession } from "../../src/evals/recorded-runs.ts";
import { readEvalCases } from "../../src/skills/check.ts";
import { openRunEnvironment } from "../../src/runtime/runs.ts";
import { readOptions } from "../../src/runtime/options.ts";

const scripted = fileURLToPath(new URL("../agent/scripted-agent.js", import.meta.url));
const secret = "The words of the skill itself.";

let directory = "";
beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-evaluate-")));
  mkdirSync(path.join(directory, "greet", "evals", "files"), { recursive: true });
  writeFileSync(path.join(directory, "greet", "SKILL.md"), `---\nname: greet\ndescription: Greets.\n---\n${secret}\n`);
  writeFileSync(path.join(directory, "greet", "evals", "files", "in.txt"), "given");
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

async function run(cases: readonly object[], more: Partial<EvaluateOptions> = {}): Promise<Evaluation> {
  const skill = { directory: path.join(directory, "greet"), name: "greet", slug: "greet" };
  writeFileSync(path.join(skill.directory, "evals", "evals.json"), JSON.stringify({ evals: cases }));
  const environment = openRunEnvironment(readOptions({ dataDirectory: path.join(directory, "data") }));
  try {
    return await evaluate({
      ...{
        skill,
        cases: await readEvalCases(skill.directory),
        agent: { command: process.execPath, args: [scripted, "http"] },
      },
      ...{
        judge: undefined,
        replay: undefined,
        runs: 1,
        comparesWithout: true,
        keepsOthers: false,
        timeoutMs: 15_000,
        maxCalls: 20,
      },
      options: { log: silentLog, dataDirectory: path.join(directory, "data") },
      workspace: path.join(directory, "workspace"),
      openSandbox: environment.sandbox,
      ...{ clock: systemClock, signal: new AbortController().signal, onProgress: () => undefined },
      ...more,
    });
  } finally {
    await environment.close();
  }
}

const readRun = (evaluation: Evaluation, place: string): string =>
  readFileSync(path.join(evaluation.iteration, place), "utf8");

test("runs each case with the skill and without it, grades both, and records them in the files of the guide", async () => {
  const describe = 'tool describe_skill {"name":"greet"}';
  const evaluation = await run([
    { id: "reads", prompt: describe, assertions: [{ pattern: "words of the skill|frontmatter" }, "It is kind"] },
  ]);
  expect(
    evaluation.runs.map(({ withSkill, use, results }) => [withSkill, use, results.map(({ passed }) => passed)]),
  ).toEqual([
    [true, "used", [true, null]],
    [false, "unused", [false, null]],
  ]);
  expect(evaluation.benchmark.run_summary.delta?.pass_rate).toBe(1);
  const place = "eval-reads/with_skill/run-1";
  expect(JSON.parse(readRun(evaluation, `${place}/grading.json`))).toMatchObject({
    assertion_results: [
      { text: "the answer matches words of the skill|frontmatter", passed: true },
      { text: "It is kind", passed: null },
    ],
    summary: { passed: 1, failed: 0, total: 1, pass_rate: 1 },
  });
  expect(JSON.parse(readRun(evaluation, `${place}/timing.json`))).toMatchObject({ total_tokens: null });
  expect(JSON.parse(readRun(evaluation, "benchmark.json"))).toMatchObject({
    skill_name: "greet",
    ...evaluation.benchmark,
  });
  expect(readRun(evaluation, `${place}/ledger.ndjson`)).toContain('"tool":"describe_skill"');
  const again = await run([{ id: "reads", prompt: "say hi" }]);
  expect(path.basename(again.iteration)).toBe("iteration-2");
});

test("the skill's text is in no prompt, and what is expected is not in the project", async () => {
  const evaluation = await run(
    [{ id: "echo", prompt: "echo", files: ["evals/files/in.txt"], assertions: [{ pattern: "echo" }] }],
    { comparesWithout: false },
  );
  const sent = readRun(evaluation, "eval-echo/with_skill/run-1/transcript.ndjson")
    .split("\n")
    .filter((line) => line.includes("session/prompt"));
  expect(sent).toHaveLength(1);
  expect(sent[0]).not.toContain(secret);
  expect(readRun(evaluation, "eval-echo/with_skill/run-1/answer.md")).not.toContain(secret);
  expect(existsSync(path.join(directory, "greet", "evals", "evals.json"))).toBe(true);
});

test("a session that fails, never ends or asks for a permission is recorded as that, and the next one runs", async () => {
  const { runs } = await run(
    [
      { id: "dies", prompt: "die 3", assertions: [{ pattern: "." }] },
      { id: "never", prompt: "silent", assertions: [{ pattern: "." }] },
      { id: "asks", prompt: 'use {"title":"rm -r"}', assertions: [{ pattern: '"optionId":"no"' }] },
    ],
    { comparesWithout: false, timeoutMs: 4_000 },
  );
  expect(runs.map(({ id, fault, rejected, results }) => [id, fault, rejected, results[0]?.passed])).toEqual([
    ["dies", expect.stringMatching(/^session\/prompt: /), 0, false],
    ["never", expect.stringMatching(/was not answered within \d s$/), 0, false],
    ["asks", undefined, 1, true],
  ]);
});

test("scripts of the skill check the answer and the files in the sandbox", async ({ skip }) => {
  const check = path.join(directory, "greet", "evals", "check.py");
  writeFileSync(
    check,
    "import sys\nanswer = sys.stdin.read()\nprint('got', answer)\nsys.exit(0 if 'hello' in answer else 1)\n",
  );
  const assertions = [{ script: "evals/check.py" }];
  const { runs } = await run(
    [
      { id: "good", prompt: "say hello", assertions },
      { id: "bad", prompt: "say bye", assertions },
    ],
    { comparesWithout: false },
  );
  const [good, bad] = runs.map(({ results }) => results[0]);
  if (good?.passed === null) skip(good.evidence);
  expect(good).toMatchObject({ passed: true, evidence: "got hello" });
  expect(bad).toMatchObject({ passed: false, evidence: "got bye" });
});

test("a pattern that takes too long is not judged, and holds up nothing for long", async () => {
  const { runs } = await run(
    [{ prompt: `say ${"a".repeat(40)}!`, assertions: [{ pattern: "(a+)+$" }, { pattern: "!" }] }],
    {
      comparesWithout: false,
    },
  );
  expect(runs[0]?.results.map(({ passed, evidence }) => [passed, evidence])).toEqual([
    [null, expect.stringContaining("timed out")],
    [true, "!"],
  ]);
});

test.each([
  ".claude/settings.json",
  "evals/files/.mcp.json",
  "evals/files/sub/AGENTS.md",
  "evals/files/acp-skills.policy.json",
])("a case does not bring %s, which agents obey", async (file) => {
  mkdirSync(path.dirname(path.join(directory, "greet", file)), { recursive: true });
  writeFileSync(path.join(directory, "greet", file), "{}");
  await expect(run([{ prompt: "say hi", files: [file] }])).rejects.toMatchObject({
    code: "INVALID_OPTIONS",
    message: expect.stringContaining("is not copied: agents and editors obey") as string,
  });
});

test("a case's files are files of the skill: neither missing nor links", async () => {
  symlinkSync("/etc/hostname", path.join(directory, "greet", "evals", "files", "link"));
  symlinkSync("/etc", path.join(directory, "greet", "evals", "etc"));
  for (const file of ["evals/files/link", "evals/etc/hostname", "evals/files/none"])
    await expect(run([{ prompt: "say hi", files: [file] }])).rejects.toMatchObject({
      message: expect.stringContaining(`${file} is no readable file`) as string,
    });
  await expect(run([{ prompt: "say hi" }, { prompt: "say hi", files: ["evals/none"] }])).rejects.toThrow();
  expect(existsSync(path.join(directory, "workspace"))).toBe(false);
});

test("a judge sees the work and not the session; what has not the form of verdicts never passes", async () => {
  const assertions = ["It is kind", "It is short", { pattern: "hello" }];
  const judgeOf = (answer: string): EvaluateOptions["judge"] => ({
    command: process.execPath,
    args: ["-e", fakeJudge, answer],
  });
  const verdicts = '[{"passed": true, "evidence": "it says hello"}, {"passed": false, "evidence": "long"}]';
  const kind = await run([{ prompt: "say hello", assertions }], {
    judge: judgeOf(`Here: ${verdicts}`),
    comparesWithout: false,
  });
  expect(kind.runs[0]?.results.map(({ passed, evidence }) => [passed, evidence])).toEqual([
    [true, "it says hello"],
    [false, "long"],
    [true, "hello"],
  ]);
  for (const lie of ["All pass!", '[{"passed": true}]', '[{"passed": "yes"}, {"passed": true}]', "[".repeat(50)]) {
    const lied = await run([{ prompt: "say hello", assertions }], { judge: judgeOf(lie), comparesWithout: false });
    expect(
      lied.runs[0]?.results.map(({ passed }) => passed),
      lie,
    ).toEqual([null, null, true]);
  }
}, 60_000);

test("what is done is kept when it is interrupted", async () => {
  const controller = new AbortController();
  let shown = 0;
  const cases = Array.from({ length: 200 }, (_, number) => ({
    id: number + 1,
    prompt: "say hi",
    assertions: [{ pattern: "hi" }],
  }));
  const evaluation = await run(cases, {
    comparesWithout: false,
    signal: controller.signal,
    onProgress: () => {
      if (++shown === 3) controller.abort();
    },
  });
  expect(evaluation.runs.map(({ id }) => id)).toEqual(["1", "2"]);
  expect(JSON.parse(readRun(evaluation, "benchmark.json"))).toMatchObject({ run_summary: { with_skill: { runs: 2 } } });
});

test("a session that makes too many tool calls is ended, and says so", async () => {
  const prompt = ["one", "two", "three"]
    .map((toolCallId) => ({ sessionUpdate: "tool_call", title: "look", toolCallId }))
    .map((update) => ({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s1", update } }))
    .map((message) => `raw ${JSON.stringify(message)}`)
    .join("; ");
  const { runs } = await run([{ prompt: `${prompt}; silent` }], { comparesWithout: false, maxCalls: 2 });
  expect(runs).toMatchObject([{ stopReason: "failed", fault: "session/prompt: it made more than 2 tool calls" }]);
});

test("recorded sessions are graded again by other assertions, without an agent, and recorded like any", async () => {
  const call = 'tool describe_skill {"name":"greet"}';
  const first = await run([
    { id: "one", prompt: call, assertions: [{ pattern: "no such" }] },
    { id: "gone", prompt: "p" },
  ]);
  const replay = { iteration: first.iteration, runs: readRuns(first.iteration) };
  const agent = { command: "no-such-agent-anywhere", args: [] };
  const again = await run([{ id: "one", prompt: call, assertions: [{ pattern: "frontmatter" }] }], { agent, replay });
  expect(again.runs.map(({ id, withSkill, use, results }) => [id, withSkill, use, results[0]?.passed])).toEqual([
    ["one", true, "used", true],
    ["one", false, "unused", false],
  ]);
  const place = "eval-one/with_skill/run-1";
  for (const name of ["transcript.ndjson", "answer.md", "ledger.ndjson", "timing.json"])
    expect(readRun(again, `${place}/${name}`), name).toBe(readRun(first, `${place}/${name}`));
  expect(readRuns(again.iteration)).toEqual(again.runs);
  rmSync(path.join(first.iteration, place, "transcript.ndjson"));
  const lost = await run([{ id: "one", prompt: call, assertions: [{ pattern: "frontmatter" }] }], { agent, replay });
  expect(lost.runs[0]).toMatchObject({ fault: "its transcript cannot be read", results: [{ passed: false }] });
});

test("is read again as it was recorded, the newest first, and not if it has another form", async () => {
  const workspace = path.join(directory, "workspace");
  expect(readIterations(workspace)).toEqual([]);
  const first = await run([{ id: "one", prompt: "say hi", assertions: [{ pattern: "hi" }] }]);
  const second = await run([{ id: "two", prompt: 'tool describe_skill {"name":"greet"}' }], { comparesWithout: false });
  expect(readIterations(workspace)).toEqual([
    { number: 2, runs: second.runs },
    { number: 1, runs: first.runs },
  ]);
  const [of] = second.runs;
  if (of === undefined) throw new Error("It ran.");
  const lines = readSession(workspace, 2, of);
  expect(lines?.[0]).toEqual({ who: "user", text: 'tool describe_skill {"name":"greet"}' });
  expect(lines?.at(-1)).toMatchObject({ who: "agent", text: expect.stringContaining("frontmatter") as string });
  expect(readSession(workspace, 2, { ...of, number: 9 })).toBeUndefined();
  expect(readSession(workspace, 2, { ...of, id: "../../iteration-1/eval-one" })).toBeUndefined();
  writeFileSync(path.join(workspace, "iteration-2", "runs.ndjson"), '{"id":"two"}\nno JSON\n[]\n');
  expect(readIterations(workspace)[0]).toEqual({ number: 2, runs: [] });
  rmSync(path.join(workspace, "iteration-2", "runs.ndjson"));
  symlinkSync(path.join(workspace, "iteration-1", "runs.ndjson"), path.join(workspace, "iteration-2", "runs.ndjson"));
  expect(readIterations(workspace)[0]).toEqual({ number: 2, runs: [] });
});

/** An agent that gives its first argument as its answer, whatever it is asked. */
const fakeJudge = `
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize") send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
    else if (method === "session/new") send({ id, result: { sessionId: "j" } });
    else if (method === "session/prompt") {
      const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: process.argv[1] } };
      send({ method: "session/update", params: { sessionId: "j", update } });
      send({ id, result: { stopReason: "end_turn" } });
    }
  });`;
