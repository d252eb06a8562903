import fc from "fast-check";
import { expect, test } from "vitest";
import { amendText } from "../../src/acp/amend-text.ts";
import { amendValue } from "../../src/acp/amend.ts";
import { findInvocation, type Instructions, rewritePrompt } from "../../src/acp/prompt.ts";

const text = (words: string): object => ({ type: "text", text: words });
const instructions: Instructions = {
  body: "# How\n\nDo it.\n",
  truncated: false,
  files: ["a.md"],
  moreFiles: false,
  changedAt: 0,
};

test.each([
  ["/pdf", "pdf", ""],
  [" \n/pdf x", "pdf", "x"],
  ["$pdf", "pdf", ""],
  ["/pdf read x", "pdf", "read x"],
  ["/pdf\n\nread\nx ", "pdf", "read\nx "],
  ["/a.b.c do", "a.b.c", "do"],
  ["$pdf-reader-2 x", "pdf-reader-2", "x"],
])("%j calls a skill", (words, name, rest) => {
  expect(findInvocation([text(words)])).toMatchObject({ place: 0, name, words: rest });
});

test.each([
  "pdf",
  "x /pdf",
  "/",
  "/ pdf",
  "/pdf/x",
  "/Pdf",
  "/pdf,x",
  "//pdf",
  "/pdf-",
  "/pdf..x",
  "$1.50",
  "/etc/hosts",
  "",
])("%j calls none, or none by that name", (words) => {
  expect(findInvocation([text(words)])?.name).not.toBe("pdf");
});

test("only the first text block is looked at", () => {
  const image = { type: "image", data: "" };
  expect(findInvocation([image, text("/pdf x"), text("/csv y")])).toMatchObject({ place: 1, name: "pdf" });
  expect(findInvocation([text("hello"), text("/pdf x")])).toBeUndefined();
});

test("no JSON value makes it throw", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      findInvocation(value);
      findInvocation([value, { type: "text", text: value }]);
    }),
  );
});

function rewritten(words: string, embeddedContext: boolean, given = instructions): unknown {
  const prompt = [
    { type: "image", data: "" },
    { type: "text", text: words, annotations: { priority: 1 } },
  ];
  const invocation = findInvocation(prompt);
  if (invocation === undefined) throw new Error("no call");
  const skill = { slug: "pdf", directory: "/skills/pdf", file: "/skills/pdf/SKILL.md", instructions: given };
  const amended = amendValue({ params: { prompt } }, rewritePrompt(invocation, skill, embeddedContext)) as {
    params: { prompt: unknown };
  };
  return amended.params.prompt;
}

test("the instructions come first, then the user's words; other blocks stay", () => {
  expect(rewritten("/pdf read x", true)).toEqual([
    { type: "image", data: "" },
    {
      type: "resource",
      resource: {
        uri: "file:///skills/pdf/SKILL.md",
        mimeType: "text/markdown",
        text: "# How\n\nDo it.\n\nBase directory of this skill: /skills/pdf\n\nFiles in it:\n- a.md\n",
      },
      annotations: { audience: ["assistant"] },
    },
    { type: "text", text: "read x", annotations: { priority: 1 } },
  ]);
});

test("an agent that takes no resources gets text", () => {
  expect(rewritten("/pdf read x", false)).toMatchObject([
    { type: "image" },
    { type: "text", text: expect.stringMatching(/skill "pdf".*\n\n# How/) as string },
    { type: "text", text: "read x" },
  ]);
});

test("a block that calls a skill keeps the spelling of all but its text", () => {
  const block = '{"type":"text","text":"/pdf read x","_meta":{"q":1e400,"n":12345678901234567890}}';
  const line = `{"params":{"prompt":[${block}]}}`;
  const { params } = JSON.parse(line) as { params: { prompt: unknown } };
  const invocation = findInvocation(params.prompt);
  if (invocation === undefined) throw new Error("no call");
  const skill = { slug: "pdf", directory: "/skills/pdf", file: "/skills/pdf/SKILL.md", instructions };
  const amended = amendText(line, rewritePrompt(invocation, skill, true));
  expect(amended).toContain('"_meta":{"q":1e400,"n":12345678901234567890}');
});

test("a call without words asks to use the skill", () => {
  expect(rewritten("/pdf ", true)).toMatchObject([{}, {}, { type: "text", text: 'Use the skill "pdf".' }]);
});

test("what was cut says where the rest is", () => {
  const cut = { ...instructions, truncated: true, moreFiles: true };
  expect(JSON.stringify(rewritten("/pdf", true, cut))).toMatch(/rest is in \/skills\/pdf\/SKILL\.md.*and more/);
});
