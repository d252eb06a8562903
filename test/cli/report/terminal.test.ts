import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createTerminal, wantsColour, widthOf, askAtTerminal } from "../../../src/cli/report/terminal.ts";
import { createProgress } from "../../../src/cli/report/progress.ts";
import { noCapabilities } from "../../../src/skills/permissions.ts";
import { type Asked, askAboutSkill } from "../../../src/runtime/question.ts";
import { manualClock } from "../../manual-clock.ts";

test.each([
  [{ isTTY: true, columns: 80 }, 80],
  [{ isTTY: true, columns: 0 }, undefined],
  [{ isTTY: true }, undefined],
  [{ isTTY: false, columns: 80 }, undefined],
  [{ columns: 80 }, undefined],
])("the width of %j is %s columns", (stdout, columns) => {
  expect(widthOf(stdout)).toBe(columns);
});

test.each([
  [{}, true, true],
  [{}, false, false],
  [{ TERM: "dumb" }, true, false],
  [{ NO_COLOR: "1" }, true, false],
  [{ NO_COLOR: "" }, true, true],
  [{ FORCE_COLOR: "1" }, false, true],
  [{ FORCE_COLOR: "0" }, true, false],
  [{ FORCE_COLOR: "1", NO_COLOR: "1" }, false, true],
])("with %j (terminal: %s), uses colours: %s", (env, isTerminal, wanted) => {
  expect(wantsColour(env, isTerminal)).toBe(wanted);
});

const asked: Asked = {
  skill: {
    name: "deploy",
    slug: "deploy",
    version: "1.2.0",
    digest: `sha256:${"a".repeat(64)}`,
    isOwn: true,
    source: "/home/ada/.agents/skills",
    directory: "/home/ada/.agents/skills/deploy",
  },
  wants: { ...noCapabilities, network: ["https://api.example"] },
  reach: "everywhere",
};
const question = askAboutSkill(asked);
const noProgress = { done: () => undefined };
const { signal } = new AbortController();

function open(typed: string) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.end(typed);
  return { ask: askAtTerminal(input, output, noProgress), shown: () => String(output.read() ?? "") };
}

test("shows the question and its answers, and takes the number of one", async () => {
  const { ask, shown } = open("2\n");
  expect(await ask(question, signal)).toEqual({ answer: "trust" });
  expect(shown()).toBe(
    [
      "acp-skills: Host api.example: run deploy 1.2.0 (aaaaaaaaaaaa)",
      "  it may connect to api.example",
      "  1  Run once",
      "  2  Trust this exact version",
      "  3  Not now",
      "  4  Block this skill",
      "choose 1 to 4 [3]: ",
    ].join("\n"),
  );
});

test.each([
  ["\n", { answer: "not-now" }],
  ["", { missing: "cancelled" }],
  ["yes\n0\n5\n1.5\n-1\n1\n", { answer: "once" }],
  ["nonsense\n", { missing: "cancelled" }],
  [" 4 \n", { answer: "block" }],
])("the input %j is answered with %j", async (typed, reply) => {
  expect(await open(typed).ask(question, signal)).toEqual(reply);
});

test("a question that is no longer needed is withdrawn, and what is printed then starts on a line of its own", async () => {
  const controller = new AbortController();
  const output = new PassThrough();
  const asked = askAtTerminal(new PassThrough(), output, noProgress)(question, controller.signal);
  controller.abort(new Error("no longer wanted"));
  await expect(asked).rejects.toThrow("no longer wanted");
  expect(String(output.read())).toMatch(/choose 1 to 4 \[3\]: \n$/);
});

test("says once what a changed skill wants beyond the version that was approved", async () => {
  const before = { version: "1.1.0", digest: `sha256:${"b".repeat(64)}`, capabilities: noCapabilities };
  const input = new PassThrough();
  const output = new PassThrough();
  input.end("3\n");
  await askAtTerminal(input, output, noProgress)(askAboutSkill({ ...asked, before }), signal);
  expect(String(output.read()).match(/may connect to api\.example/g)).toHaveLength(1);
});

test.each([
  { isTTY: true, isQuiet: false, isShown: true },
  { isTTY: false, isQuiet: false, isShown: false },
  { isTTY: true, isQuiet: true, isShown: false },
])("with stderr as a terminal: $isTTY, and --json: $isQuiet, progress is shown: $isShown", (given) => {
  const clock = manualClock();
  const stderr = Object.assign(new PassThrough(), { isTTY: given.isTTY });
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr };
  const { progress } = createTerminal(streams, () => given.isQuiet, clock);
  progress.show("installing");
  clock.pass(60_000);
  progress.erase();
  progress.done();
  expect({ isShown: stderr.read() !== null, pending: clock.pending }).toEqual({ isShown: given.isShown, pending: 0 });
});

test("progress does not overwrite the prompt while a person thinks", async () => {
  const clock = manualClock();
  const [input, output] = [new PassThrough(), new PassThrough()];
  const progress = createProgress({ write: (text) => void output.write(text) }, clock);
  progress.show("starting");
  clock.pass(1500);
  const answered = askAtTerminal(input, output, progress)(question, signal);
  clock.pass(60_000);
  expect(String(output.read())).toMatch(/choose 1 to 4 \[3\]: $/);
  input.end("1\n");
  expect(await answered).toEqual({ answer: "once" });
});
