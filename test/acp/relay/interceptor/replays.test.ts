import fc from "fast-check";
import { expect, test } from "vitest";
import { insertedUri, toInserted, toInvocationSentence } from "../../../../src/acp/relay/interceptor/inserted.ts";
import { Replays } from "../../../../src/acp/relay/interceptor/replays.ts";
import { amendValue } from "../../../../src/acp/messages/amend.ts";

type Update = Readonly<Record<string, unknown>>;

const text = (words: string): Update => ({ type: "text", text: words });
const said = text(`${toInvocationSentence("pdf", "read it")}\n\n`);
const instructions = text(toInserted("skill", "pdf", "How to read."));
const resource = { type: "resource", resource: { uri: insertedUri("pdf"), text: "How to read." } };
const index = text(`\n\n${toInserted("index", "1a2b3c", "Skills are folders.")}`);
const image = { type: "image", data: "AAAA", mimeType: "image/png" };

const chunk = (content: Update, messageId = "m"): Update => ({
  sessionUpdate: "user_message_chunk",
  messageId,
  content,
});
const whole = (content: unknown, messageId = "m"): Update => ({ sessionUpdate: "user_message", messageId, content });

/** The updates that an editor gets for those of an agent. */
function shown(...updates: readonly Update[]): readonly unknown[] {
  const received: unknown[] = [];
  const replays = new Replays(({ params }) => received.push((params as { update: Update }).update));
  for (const update of updates) {
    const verdict = replays.updated("s", update) ?? { forward: true };
    const message = { params: { sessionId: "s", update } };
    if (verdict.forward)
      received.push((amendValue(message, verdict.amendments ?? []) as { params: { update: Update } }).params.update);
  }
  return received;
}

test("shows of a whole prompt what the person sent", () => {
  expect(shown(whole([said, instructions, image, index]))).toEqual([whole([text("/pdf read it"), image])]);
  expect(shown(whole([said, resource, index]))).toEqual([whole([text("/pdf read it")])]);
  expect(shown(whole([text("hello"), index]))).toEqual([whole([text("hello")])]);
  expect(shown(whole([index]))).toEqual([whole([])]);
});

test("leaves a whole prompt without our text, and one without content, as they are", () => {
  for (const content of [[text("hello"), image], [], [text("")], null, undefined, "text", [1, null, { type: "text" }]])
    expect(shown(whole(content))).toEqual([whole(content)]);
});

test("shows a prompt that replaces its chunks, or follows them, and nothing twice", () => {
  expect(shown(chunk(text("Use the")), whole([said, instructions]))).toEqual([whole([text("/pdf read it")])]);
  expect(shown(whole([text("hello")]), chunk(text(" there")), chunk(index))).toEqual([
    whole([text("hello")]),
    chunk(text(" there")),
  ]);
  expect(shown(chunk(text("Use the")), whole([text("hello")], "n"))).toEqual([
    chunk(text("Use the")),
    whole([text("hello")], "n"),
  ]);
});

test("keeps what was held back of a prompt under its id when another update comes", () => {
  const other = { sessionUpdate: "agent_message_chunk", content: text("Hi.") };
  expect(shown(chunk(text("Use the")), other)).toEqual([chunk(text("Use the")), other]);
});

test("never changes a whole prompt without our text", () => {
  const block = fc.oneof(
    fc.string().map(text),
    fc.constantFrom<Update>(image, text("Use the skill"), text('Use the skills "pdf"'), text("<q7x2m9-acp")),
  );
  fc.assert(
    fc.property(fc.array(block), (content) => {
      const received = shown(whole(content)) as { content: Update[] }[];
      const words = (blocks: readonly Update[]): string =>
        blocks.map((one) => ("text" in one ? (one["text"] as string) : "[image]")).join("");
      expect(received.map((one) => words(one.content))).toEqual([words(content)]);
    }),
  );
});
