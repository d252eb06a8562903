import fc from "fast-check";
import { expect, test } from "vitest";
import {
  isEnvelope,
  type Prefix,
  readMessageFields,
  readInner,
  unwrap,
} from "../../../../src/acp/relay/relay-chain/envelope.ts";
import { SteadyEnvelopes } from "../../../../src/acp/relay/relay-chain/steady-envelopes.ts";

/** What is left of a line that is taken apart without reading it; undefined if it must be read. */
function unwrapUnread(line: string, prefix: Prefix = "", envelopes = new SteadyEnvelopes()): string | undefined {
  const pieces: string[] = [];
  const before = '{"jsonrpc":"2.0","id":"before","result":{}}\n';
  const bytes = Buffer.from(before + line).toString("latin1");
  const isSteady = envelopes.unwrap(bytes, before.length, bytes.length, prefix, pieces);
  return isSteady ? Buffer.from(pieces.join(""), "latin1").toString() : undefined;
}

/** Undefined if nothing is passed on. */
function unwrapRead(line: string): string | undefined {
  const bytes = Buffer.from(line);
  const fields = readMessageFields(bytes);
  if (fields?.method === undefined || !isEnvelope(bytes, fields.method)) return undefined;
  const inner = readInner(bytes, fields);
  return inner && Buffer.concat(unwrap(bytes, fields.id, inner)).toString();
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

const changes = fc.option(fc.record({ at: fc.nat(), cut: fc.nat(12), insert: oddText }), { freq: 2 });
const ends = fc.constantFrom("}}}\n", "}}\n", "}\n", "\n");
const lines = fc.record({
  prefix: fc.constantFrom<Prefix[]>("", "", "_"),
  params: members,
  behind: members,
  outside: members,
  again: fc.constantFrom("", "", "", '"params":{"a":{}}', '"method":"proxy/x"', '"id":{}'),
  isTurned: fc.constantFrom(false, false, false, true),
  gap,
  change: changes,
  truncated: fc.option(fc.record({ to: fc.nat(), end: ends }), { freq: 2 }),
});

type Line = typeof lines extends fc.Arbitrary<infer Value> ? Value : never;

/** An envelope, perhaps with some bytes replaced, or cut off. */
function toLine({ prefix, params, behind, outside, again, isTurned, gap, change, truncated }: Line): string {
  const also = (more: string): string => (more === "" ? "" : `${gap},${gap}${more}`);
  const fields = ['"method":"session/update"', `"params":${write(params, gap)}`];
  const inner = (isTurned ? fields.reverse() : fields).join(`${gap},${gap}`);
  const rest = `${also(again)}${also(writeMembers(behind, gap))}}${also(writeMembers(outside, gap))}}\n`;
  let line = `{"jsonrpc":"2.0","method":"${prefix}proxy/successor","params":{${inner}${rest}`;
  // What the fast path takes must stay in front, or nothing is shown.
  const place = (of: number): number => 90 + (of % Math.max(1, line.length - 93));
  if (change !== null) {
    const at = place(change.at);
    line = line.slice(0, at) + change.insert + line.slice(Math.min(at + change.cut, Math.max(at, line.length - 4)));
  }
  return truncated === null ? line : line.slice(0, place(truncated.to)) + truncated.end;
}

test("what is taken apart unread is what reading gives, whatever came before", () => {
  let unread = 0;
  let known = 0;
  fc.assert(
    fc.property(fc.array(lines, { minLength: 1, maxLength: 3 }), changes, (several, change) => {
      const envelopes = new SteadyEnvelopes();
      // Each line comes again, and once more with other bytes behind the same beginning.
      for (const line of several.flatMap((each) => [each, each, { ...each, change }])) {
        const text = toLine(line);
        const isNew = unwrapUnread(text, line.prefix) === undefined;
        const taken = unwrapUnread(text, line.prefix, envelopes);
        expect(taken === undefined).toBe(isNew);
        if (taken === undefined) continue;
        unread += 1;
        if (line.change !== null || line.truncated !== null) known += 1;
        expect(taken).toBe(unwrapRead(text));
      }
    }),
    { numRuns: 5_000 },
  );
  expect(unread).toBeGreaterThan(100);
  expect(known).toBeGreaterThan(20);
});

test("a line of the other prefix is read, also after one that began the same", () => {
  const envelopes = new SteadyEnvelopes();
  const line = envelope(`{${content}}`);
  expect(unwrapUnread(line, "", envelopes)).toBeDefined();
  expect(unwrapUnread(line, "_", envelopes)).toBeUndefined();
});

test.each([
  ["in a string", '{"a":"x}}}\n'],
  ["in a string behind an object", '{"a":{},"b":"x}}}\n'],
  ["with a bracket open", '{"a":[{"b":{}}}\n'],
])("a line that was cut off %s is read", (_, params) => {
  const line = `{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"session/update","params":${params}`;
  expect(unwrapUnread(line)).toBeUndefined();
});
