import { expect, test } from "vitest";
import type { Question } from "../../../../src/runtime/question.ts";
import type { Message } from "../../conversation.ts";
import { askingConversation, changedQuestion, projectQuestion, question, settled } from "./questions.ts";

const showsForms = { elicitation: { form: {} } };

/** A question that an editor with forms was just asked, and how it can answer. */
async function askForm(about: Question = question) {
  const conversation = await askingConversation(about, showsForms);
  await conversation.call(1);
  const request = conversation.atEditor.find(({ method }) => method === "elicitation/create");
  if (typeof request?.id !== "string") throw new Error("no form was shown");
  const { id } = request;
  const params = request.params as {
    readonly message: string;
    readonly toolCallId: string;
    readonly requestedSchema: { readonly properties: Record<string, { enum?: string[] }> };
  };
  return {
    ...conversation,
    params,
    responds: async (response: Pick<Message, "result" | "error">, afterMs = 400): Promise<unknown> => {
      conversation.clock.pass(afterMs);
      await conversation.editor({ id, ...response });
      return await conversation.reply(1);
    },
  };
}

const accept = (content: unknown): Pick<Message, "result"> => ({ result: { action: "accept", content } });

test("shows an editor with forms one form: skill, version, digest, what it wants, the answers and a field for the reason", async () => {
  const { params, atEditor } = await askForm();
  expect(params).toEqual({
    sessionId: "s",
    toolCallId: expect.stringMatching(/^acp-skills:question-/) as string,
    mode: "form",
    message: `Secret API_KEY, host api.example.com: run web.fetch 1.0.0 (aaaaaaaaaaaa)\nIt can read the value of API_KEY\nIt may connect to api.example.com`,
    requestedSchema: {
      type: "object",
      properties: {
        answer: {
          type: "string",
          title: "Answer",
          enum: ["Run once", "Trust this exact version", "Not now", "Block this skill"],
        },
        why: { type: "string", title: "Why not?", description: "Goes to the model, if you say no.", maxLength: 500 },
      },
      required: ["answer"],
    },
  });
  expect(atEditor.filter(({ method }) => method === "session/request_permission")).toEqual([]);
});

test("shows the changes as a patch, and the tool call that the form belongs to with its diffs", async () => {
  const { params, take } = await askForm(changedQuestion);
  expect(params.message).toContain("NEW: ");
  expect(params.message).toContain(
    "Changed: SKILL.md\nChanged: scripts/new.py\nChanged: logo.png\n\ndiff --git a/SKILL.md",
  );
  expect(params.message).toContain("+print(1)\n");
  expect(params.message).toMatch(/\n\nThe changes of 1 file are not shown here\.\n$/);
  const call = take("tool_call").at(-1);
  expect(call).toMatchObject({ toolCallId: params.toolCallId, content: [{ type: "content" }, { type: "diff" }, {}] });
});

test("shows every character of a change, and says how many changed files have no room", async () => {
  const { params } = await askForm({
    ...changedQuestion,
    changed: [
      { path: "a.py", before: "", after: "print(1)\r# \u202ehidden\r\n\tx\u2028\u200by\n" },
      { path: "large.txt", before: "", after: "x".repeat(20_000) },
      { path: "gone.txt" },
    ],
  });
  expect(params.message).toContain("+print(1)\ufffd# \ufffdhidden\n+\tx\ufffd\ufffdy\n");
  expect(params.message).not.toContain("xxx");
  expect(params.message).toMatch(/\n\nThe changes of 2 files are not shown here\.\n$/);
});

test.each([
  ["Run once", { answer: "once" }],
  ["Trust this exact version", { answer: "trust" }],
  ["Not now", { answer: "not-now" }],
  ["Block this skill", { answer: "block" }],
])("takes the answer %s", async (answer, expected) => {
  expect(await (await askForm()).responds(accept({ answer }))).toEqual(expected);
});

test("passes on the reason of a no, in one line, and no other", async () => {
  const why = "It needs\nmy key";
  expect(await (await askForm()).responds(accept({ answer: "Not now", why }))).toEqual({
    answer: "not-now",
    why: "It needs my key",
  });
  expect(await (await askForm()).responds(accept({ answer: "Run once", why }))).toEqual({ answer: "once" });
  expect(await (await askForm()).responds(accept({ answer: "Not now", why: "" }))).toEqual({ answer: "not-now" });
});

const failed = (detail: string): object => ({ missing: "failed", detail });

test.each<[string, Pick<Message, "result" | "error">, object]>([
  ["declines", { result: { action: "decline" } }, { answer: "not-now" }],
  ["cancels", { result: { action: "cancel", content: { answer: "Run once" } } }, { missing: "cancelled" }],
  ["sends no content", { result: { action: "accept" } }, failed("the editor's form has no answer")],
  ["sends null", accept(null), failed("the editor's form has no answer")],
  ["sends a list", accept(["Run once"]), failed("the editor's form has no answer")],
  ["sends a number", accept({ answer: 1 }), failed("the editor's form has no answer")],
  [
    "sends another answer",
    accept({ answer: "Trust everything" }),
    failed("the editor selected an option that it was not offered"),
  ],
  [
    "sends fields that were not asked for",
    accept({ answer: "Run once", always: true }),
    failed("the editor's form has fields that were not asked for"),
  ],
  [
    "gives a number as the reason",
    accept({ answer: "Not now", why: 7 }),
    failed("what the editor's form gives as the reason is no text, or too long"),
  ],
  [
    "gives a reason of 1 MB",
    accept({ answer: "Not now", why: "x".repeat(1_000_000) }),
    failed("what the editor's form gives as the reason is no text, or too long"),
  ],
  ["acts otherwise", { result: { action: "_maybe" } }, failed("the editor's response to a form has no valid action")],
  [
    "answers as to a permission request",
    { result: { outcome: { outcome: "selected", optionId: "allow_once" } } },
    failed("the editor's response is to another kind of question"),
  ],
  [
    "knows no forms after all",
    { error: { code: -32601, message: "Method not found" } },
    failed("the editor answered with error -32601: Method not found"),
  ],
])("allows nothing for an editor that %s", async (_case, response, expected) => {
  const { responds, atAgent } = await askForm();
  atAgent.splice(0);
  expect(await responds(response)).toEqual(expected);
  expect(atAgent).toEqual([]);
});

test("takes the first response only, and none after the time to answer", async () => {
  const twice = await askForm();
  expect(await twice.responds(accept({ answer: "Not now" }))).toEqual({ answer: "not-now" });
  expect(await twice.responds(accept({ answer: "Trust this exact version" }))).toEqual({ answer: "not-now" });
  const late = await askForm();
  late.clock.pass(5 * 60_000);
  await settled();
  expect(await late.reply(1)).toEqual({ missing: "timeout" });
  const before = late.atAgent.length;
  expect(await late.responds(accept({ answer: "Run once" }))).toEqual({ missing: "timeout" });
  expect(late.atAgent).toHaveLength(before);
});

test.each([
  ["null", { elicitation: { form: null } }, 0],
  ["nothing", { elicitation: {} }, 0],
  ["true", { elicitation: { form: true } }, 1],
])("asks an editor that declares %s for forms by a permission request", async (_case, capabilities, warnings) => {
  const { call, asked, logged } = await askingConversation(question, capabilities);
  await call(1);
  expect(asked()).toHaveLength(1);
  expect(logged.filter((line) => line.includes("elicitation.form"))).toHaveLength(warnings);
});

test("does not let a setting of the editor decide about a project, by a form or a permission request", async () => {
  const byItself = failed("the editor answered by itself, before a person could read the question");
  const [once] = projectQuestion.options;
  expect(await (await askForm(projectQuestion)).responds(accept({ answer: once?.label }), 399)).toEqual(byItself);
  for (const option of ["allow_once", "allow"]) {
    const { call, asked, reply, selects, logged } = await askingConversation(projectQuestion);
    await call(1);
    await selects(asked()[0]!.id, option, 399);
    expect(await reply(1)).toEqual(byItself);
    expect(logged.filter((line) => line.includes("before a person could read"))).toHaveLength(1);
    await call(2);
    await selects(asked()[1]!.id, option, 400);
    expect(await reply(2)).toMatchObject({ answer: option === "allow" ? "trust" : "once" });
  }
});
