import { expect, test } from "vitest";
import {
  toPermissionContent,
  toOptions,
  toPermissionRequest,
} from "../../../../src/acp/service/ask/permission-request.ts";
import type { ChangedFile } from "../../../../src/skills/files.ts";
import { changedQuestion, projectQuestion, question } from "./questions.ts";

const where = { sessionId: "s", toolCallId: "call", protocol: 1 } as const;

test("shows what changed: widened permissions, a diff of each text file, and the names of the others", () => {
  expect(toPermissionContent(changedQuestion, 1)).toEqual([
    {
      type: "content",
      content: {
        type: "text",
        text: "New since the version that was approved: can read the value of API_KEY.\nAll that it wants: can read the value of API_KEY, may connect to api.example.com.\nChanged files: 3.\nNot shown here: logo.png",
      },
    },
    { type: "diff", path: "/own/web.fetch/SKILL.md", oldText: "one\ntwo\n", newText: "one\n2\n" },
    { type: "diff", path: "/own/web.fetch/scripts/new.py", newText: "print(1)\n" },
  ]);
});

test("shows changes in ACP v2 as git patches", () => {
  const { params } = toPermissionRequest(changedQuestion, { ...where, protocol: 2 });
  expect(params).toMatchObject({ title: changedQuestion.title, subject: { type: "tool_call" } });
  expect(params).not.toHaveProperty("toolCall");
  expect(toPermissionContent(changedQuestion, 2).slice(1)).toEqual([
    {
      type: "diff",
      changes: [{ operation: "modify", path: "/own/web.fetch/SKILL.md", fileType: "text" }],
      patch: {
        format: "git_patch",
        text: "diff --git a/SKILL.md b/SKILL.md\n--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
      },
    },
    {
      type: "diff",
      changes: [{ operation: "add", path: "/own/web.fetch/scripts/new.py", fileType: "text" }],
      patch: {
        format: "git_patch",
        text: "diff --git a/scripts/new.py b/scripts/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/scripts/new.py\n@@ -0,0 +1,1 @@\n+print(1)\n",
      },
    },
  ]);
});

test("lists all that a first version wants, and has a kind that says whether it runs or reads", () => {
  const text = "All that it wants: can read the value of API_KEY, may connect to api.example.com.";
  expect(toPermissionContent(question, 1)).toEqual([{ type: "content", content: { type: "text", text } }]);
  expect(toPermissionRequest(projectQuestion, where).fields).not.toHaveProperty("content");
  expect(toPermissionRequest(question, where).fields).toMatchObject({ kind: "execute" });
  expect(toPermissionRequest(projectQuestion, where).fields).toMatchObject({ kind: "read", rawInput: {} });
});

test("uses option ids that the buttons of every editor send back, and none that lets an editor answer later questions", () => {
  const { options, answers } = toOptions(question);
  expect(options.map(({ optionId }) => optionId)).toEqual(["allow_once", "allow", "reject_once", "reject_always"]);
  expect([...answers]).toEqual([
    ["allow_once", "once"],
    ["allow", "trust"],
    ["reject_once", "not-now"],
    ["reject_always", "block"],
  ]);
});

test("shows at most 20 diffs of at most 64 KiB a side, and at most 100 other names", () => {
  const texts = (count: number): readonly ChangedFile[] =>
    Array.from({ length: count }, (_, place) => ({ path: `${place}.md`, before: "old\n", after: "new\n" }));
  const long = "é".repeat(32 * 1024);
  const changed = [
    { path: "long.md", before: long, after: `${long}!` },
    { path: "even.md", before: "", after: long },
  ];
  const [text, ...diffs] = toPermissionContent({ ...changedQuestion, changed: [...changed, ...texts(200)] }, 1);
  expect(diffs).toHaveLength(20);
  expect(diffs[0]).toMatchObject({ newText: long });
  const { content } = text as { readonly content: { readonly text: string } };
  expect(content.text).toContain("Changed files: 202.\nNot shown here: long.md, 19.md, 20.md");
  expect(content.text).toMatch(/, and 82 more$/);
});

test("keeps control characters and the direction of writing out of names of files", () => {
  const changed = [{ path: "a\u202ebin\n.sh" }, { path: "b\u0007.md", after: "x" }];
  const [text, diff] = toPermissionContent({ ...changedQuestion, changed }, 1);
  expect(JSON.stringify([text, diff])).not.toMatch(/\u202e|\\u202e|\\u0007|bin\\n/);
});
