import { rmSync } from "node:fs";
import { beforeEach, expect, test } from "vitest";
import { skillText, useTemporaryProject } from "../../../cli/temporary-project.ts";
import { afterReading, choose } from "../../permission-answers.ts";
import { type AskingEditor, openAskingEditor } from "./asking-editor.ts";

const files = useTemporaryProject();
let project = "";

const manifest = `name = "web.fetch"
version = "1.0.0"
description = "Fetches a page."
kind = "action"
[runtime]
language = "python"
entrypoint = "main.py"
[permissions]
network = ["https://api.example.com"]
`;

beforeEach(() => {
  project = files.at("project");
  files.write("project/.agents/skills/pdf/SKILL.md", skillText("pdf"));
  files.write("project/.agents/skills/csv/SKILL.md", skillText("csv"));
  files.write("project/.agents/skills/web.fetch/skill.toml", manifest);
  files.write("project/.agents/skills/web.fetch/SKILL.md", skillText("web.fetch"));
  files.write("project/.agents/skills/web.fetch/main.py", 'def main():\n    return {"fetched": True}\n');
});

const readPdf = (editor: AskingEditor): Promise<Record<string, unknown>> =>
  editor.tool("read_skill_file", { name: "pdf", path: "SKILL.md" });
const fetchPage = (editor: AskingEditor): Promise<Record<string, unknown>> =>
  editor.tool("execute_skill", { name: "web.fetch" });
const denied = (why: string): object => ({
  code: -32001,
  message: expect.stringContaining(why) as string,
  data: {
    code: "PERMISSION_DENIED",
    hint: expect.stringContaining("acp-skills approvals") as string,
    retryable: false,
  },
});

test("asks once before the model reads skills of a project, and not again in another window", async () => {
  const first = await openAskingEditor(project, { first: "allow_always" });
  expect(await readPdf(first)).toMatchObject({ encoding: "utf-8" });
  expect(await first.tool("read_skill_file", { name: "csv", path: "SKILL.md" })).toMatchObject({ encoding: "utf-8" });
  expect(first.titles()).toEqual([expect.stringContaining("Let the model read the instructions of pdf")]);
  await first.close();
  const second = await openAskingEditor(project, { first: "never" });
  expect(await readPdf(second)).toMatchObject({ encoding: "utf-8" });
  expect(second.titles()).toEqual([]);
  await second.close();
});

test("gives the model the reason, and asks no more after the user refused", async () => {
  const editor = await openAskingEditor(project, { first: "reject_once" });
  const call = 'tool read_skill_file {"name":"pdf","path":"SKILL.md"}';
  const said = await editor.prompt(`${call}; ${call}`);
  expect(said.match(/The user answered: not now/g)?.length).toBeGreaterThanOrEqual(2);
  expect(editor.titles()).toHaveLength(1);
  // Nor in the next, until the user invokes it.
  editor.choose("allow_once");
  expect(await editor.prompt(call)).toContain("The user answered: not now");
  await editor.prompt("/pdf say hello");
  expect(await readPdf(editor)).toMatchObject({ encoding: "utf-8" });
  expect(editor.titles()).toHaveLength(1);
  await editor.close();
});

test("lets the model read a skill that the user invoked", async () => {
  const editor = await openAskingEditor(project, { first: "never" });
  await editor.prompt("/pdf say hello");
  expect(await readPdf(editor)).toMatchObject({ encoding: "utf-8" });
  expect(editor.titles()).toEqual([]);
  await editor.close();
});

test("allows only one call to an editor that always takes the first option to allow", async () => {
  const editor = await openAskingEditor(project, { first: "allow_once" });
  for (const count of [1, 2]) {
    expect(await fetchPage(editor)).toMatchObject({ status: "completed" });
    expect(editor.titles()).toHaveLength(count);
  }
  await editor.close();
});

test("takes an answer that was sent at once behind 12 MB for one by the editor itself", async () => {
  const zeros = "0,".repeat(6_000_000);
  // As bytes: making them of a text takes as long as a fast person.
  const large = Buffer.from(
    `{"jsonrpc":"2.0","id":"large","method":"session/set_mode","params":{"_meta":[${zeros}0]}}\n`,
  );
  const editor = await openAskingEditor(project, {
    first(message) {
      editor.write(large);
      editor.write(`${JSON.stringify(choose(message, "allow_always"))}\n`);
      return undefined;
    },
    inProcess: false,
  });
  expect(await fetchPage(editor)).toMatchObject({ status: "completed" });
  expect(await fetchPage(editor)).toMatchObject({ status: "completed" });
  expect(editor.titles()).toHaveLength(2);
  await editor.close();
});

test("runs nothing if the skill changed while its question was open", async () => {
  const editor = await openAskingEditor(project, {
    first: (message) => {
      files.write("project/.agents/skills/web.fetch/main.py", 'def main():\n    return "stolen"\n');
      return choose(message, "allow_always");
    },
  });
  expect(await fetchPage(editor)).toMatchObject({
    message: "The skill web.fetch changed before it ran.",
    data: { code: "SKILL_NOT_READY" },
  });
  editor.choose("reject_once");
  expect(await fetchPage(editor)).toEqual(denied("not now"));
  expect(editor.titles()).toHaveLength(2);
  await editor.close();
});

test("runs nothing if the skill was deleted while its question was open", async () => {
  const editor = await openAskingEditor(project, {
    first: (message) => {
      rmSync(files.at("project/.agents/skills/web.fetch"), { recursive: true });
      return choose(message, "allow_always");
    },
  });
  expect(await fetchPage(editor)).toMatchObject({
    message: "The skill web.fetch changed before it ran.",
    data: { code: "SKILL_NOT_READY" },
  });
  await editor.close();
});

test("ends the call when the turn is cancelled while its question is open", async () => {
  const editor = await openAskingEditor(project, { first: "never" });
  const asked = editor.asked();
  const turn = fetchPage(editor).catch(String);
  const { id } = await asked;
  editor.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: "session-1" } });
  await turn;
  expect(editor.received).toContainEqual({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: id } });
  // As the protocol demands, the editor answers after that; it starts nothing.
  editor.send({ jsonrpc: "2.0", id, result: { outcome: { outcome: "cancelled" } } });
  expect(JSON.stringify(editor.received)).toContain("the user cancelled the turn");
  await editor.close();
});

test("grants nothing where one of two windows blocks the skill while the other one allows it", async () => {
  const [one, two] = [
    await openAskingEditor(project, { first: "never", inProcess: false }),
    await openAskingEditor(project, { first: "never", inProcess: false }),
  ];
  const questions = [one.asked(), two.asked()];
  const calls = [fetchPage(one), fetchPage(two)];
  const [first, second] = await Promise.all(questions);
  await new Promise<void>(afterReading);
  one.send(choose(first!, "reject_always")!);
  expect(await calls[0]).toEqual(denied("blocked"));
  two.send(choose(second!, "allow_always")!);
  expect(await calls[1]).toEqual(denied("blocked"));
  await Promise.all([one.close(), two.close()]);
});

test("counts an answer in one process for the next question of another", async () => {
  const [one, two] = [
    await openAskingEditor(project, { first: "allow_always", inProcess: false }),
    await openAskingEditor(project, { first: "never", inProcess: false }),
  ];
  expect(await fetchPage(one)).toMatchObject({ status: "completed", output: { fetched: true } });
  expect(await fetchPage(two)).toMatchObject({ status: "completed", output: { fetched: true } });
  expect(two.titles()).toEqual([]);
  files.write("project/.agents/skills/web.fetch/main.py", 'def main():\n    return {"fetched": "more"}\n');
  two.choose("allow_once");
  expect(await fetchPage(two)).toMatchObject({ output: { fetched: "more" } });
  expect(two.titles()).toEqual([expect.stringContaining("changed since 1.0.0")]);
  const diff = {
    type: "diff",
    path: files.at("project/.agents/skills/web.fetch/main.py"),
    oldText: expect.stringContaining("True") as string,
  };
  expect(two.received.find(({ method }) => method === "session/request_permission")?.params).toMatchObject({
    toolCall: { content: expect.arrayContaining([expect.objectContaining(diff) as object]) as object[] },
  });
  await Promise.all([one.close(), two.close()]);
});

test("withdraws a question that was answered in another window, whose run goes on", async () => {
  const [one, two] = [
    await openAskingEditor(project, { first: "never", inProcess: false }),
    await openAskingEditor(project, { first: "allow_always", inProcess: false }),
  ];
  const asked = one.asked();
  const waiting = fetchPage(one);
  const { id, params } = await asked;
  expect(await fetchPage(two)).toMatchObject({ status: "completed" });
  expect(await waiting).toMatchObject({ status: "completed" });
  expect(one.received).toContainEqual({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: id } });
  const title = `Withdrawn: ${(params as { toolCall: { title: string } }).toolCall.title}`;
  expect(JSON.stringify(one.received)).toContain(JSON.stringify(title).slice(1, -1));
  await Promise.all([one.close(), two.close()]);
});

test("asks about a run once, although the agent asks for permission, too", async () => {
  const editor = await openAskingEditor(project, { first: "allow_always" });
  const permit = (name: string): Promise<string> => editor.prompt(`permit execute_skill {"name":"${name}"}`);
  expect(await permit("web.fetch")).toContain('"optionId":"once"');
  expect(editor.titles()).toEqual([]);
  expect(await fetchPage(editor)).toMatchObject({ status: "completed" });
  expect(editor.titles()).toEqual([expect.stringContaining("run web.fetch 1.0.0")]);
  // Approved: neither the agent nor we ask again.
  expect(await permit("web.fetch")).toContain('"optionId":"once"');
  expect(await fetchPage(editor)).toMatchObject({ status: "completed" });
  expect(editor.titles()).toHaveLength(1);
  await editor.close();
});
