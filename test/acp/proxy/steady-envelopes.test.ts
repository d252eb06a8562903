import fc from "fast-check";
import { expect, test } from "vitest";
import { readFields, readInner, unwrap } from "../../../src/acp/proxy/envelope.ts";
import { unwrapSteady } from "../../../src/acp/proxy/steady-envelopes.ts";

/** What is left of a line that is taken apart without reading it; undefined if it must be read. */
function unwrapUnread(line: string): string | undefined {
  const pieces: string[] = [];
  const before = '{"jsonrpc":"2.0","id":"before","result":{}}\n';
  const bytes = Buffer.from(before + line).toString("latin1");
  const isSteady = unwrapSteady(bytes, before.length, bytes.length, "", pieces);
  return isSteady ? Buffer.from(pieces.join(""), "latin1").toString() : undefined;
}

function unwrapRead(line: string): string {
  const bytes = Buffer.from(line);
  const inner = readInner(bytes, readFields(bytes)!);
  return Buffer.concat(unwrap(bytes, undefined, inner!)).toString();
}

const envelope = (params: string): string =>
  `{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"session/update","params":${params}}}\n`;
const content = '"content":{"type":"text","text":"if (x) { y(); } \\"},{\\\\"}';

test.each([
  `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk",${content}}}`,
  `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk",${content},"messageId":"m"}}`,
  `{"update":{${content}, "messageId":"m"} ,"sessionId":"s","_meta":{"a":{"b":{}}}}`,
  `{"sessionId":"s","update":{"sessionUpdate":"tool_call","content":[{${content}},{${content}}],"rawInput":{}}}`,
])("takes the form of real updates apart unread: %s", (params) => {
  expect(unwrapUnread(envelope(params))).toBe(`{"jsonrpc":"2.0","method":"session/update","params":${params}}\n`);
});

const oddText = fc
  .array(fc.constantFrom("}", "{", "},", "} ", "}}}", '"', "\\", '\\"', ",", "é", "\u2028", "x", "]", "["))
  .map((parts) => parts.join(""));
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(oddText, fc.integer(), fc.boolean(), fc.constant(null)),
    fc.dictionary(oddText, tie("value"), { maxKeys: 3 }),
    fc.array(tie("value"), { maxLength: 3 }),
  ),
})).value;
const members = fc.dictionary(
  oddText.filter((key) => !["jsonrpc", "id", "method", "params"].includes(key)),
  value,
  { maxKeys: 3 },
);
const gap = fc.constantFrom("", "", "", " ", "\t", " \r ");

/** JSON text with blanks of choice around commas. */
function write(what: unknown, blank: string): string {
  if (Array.isArray(what)) return `[${what.map((each) => write(each, blank)).join(`${blank},${blank}`)}]`;
  if (what === null || typeof what !== "object") return JSON.stringify(what);
  return `{${writeMembers(what, blank)}}`;
}

function writeMembers(what: object, blank: string): string {
  const texts = Object.entries(what).map(([key, each]) => `${JSON.stringify(key)}:${write(each, blank)}`);
  return texts.join(`${blank},${blank}`);
}

test("what is taken apart unread is what reading gives", () => {
  let unread = 0;
  const envelopes = fc.record({ params: members, behind: members, outside: members, again: fc.boolean(), gap });
  fc.assert(
    fc.property(envelopes, ({ params, behind, outside, again, gap }) => {
      const also = (more: string): string => (more === "" ? "" : `${gap},${gap}${more}`);
      const inner = `"method":"session/update","params":${write(params, gap)}${also(again ? '"params":{"a":{}}' : "")}`;
      const line = `{"jsonrpc":"2.0","method":"proxy/successor","params":{${inner}${also(writeMembers(behind, gap))}}${also(writeMembers(outside, gap))}}\n`;
      const taken = unwrapUnread(line);
      if (taken === undefined) return;
      unread += 1;
      expect(taken).toBe(unwrapRead(line));
    }),
    { numRuns: 5_000 },
  );
  expect(unread).toBeGreaterThan(100);
});
