import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { askAtTerminal } from "../../../src/cli/report/ask-at-terminal.ts";
import { noCapabilities } from "../../../src/trust/capabilities.ts";
import { askAboutSkill } from "../../../src/trust/question.ts";

const question = askAboutSkill({
  about: "run",
  subject: {
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
});
const { signal } = new AbortController();

function open(typed: string) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.end(typed);
  return { ask: askAtTerminal(input, output), shown: () => String(output.read() ?? "") };
}

test("shows the question and its answers, and takes the number of one", async () => {
  const { ask, shown } = open("2\n");
  expect(await ask(question, signal)).toEqual({ answer: "trust" });
  expect(shown()).toBe(
    [
      "acp-skills: Run deploy 1.2.0 (aaaaaaaaaaaa): may connect to api.example",
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

test("a question that is no longer needed is withdrawn", async () => {
  const controller = new AbortController();
  const asked = askAtTerminal(new PassThrough(), new PassThrough())(question, controller.signal);
  controller.abort(new Error("no longer wanted"));
  await expect(asked).rejects.toThrow("no longer wanted");
});
