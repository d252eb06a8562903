import fc from "fast-check";
import { expect, test } from "vitest";
import { readBatch } from "../../../../src/acp/relay/relay-chain/envelope.ts";
import { Routing } from "../../../../src/acp/relay/relay-chain/routing.ts";

interface Sorted {
  readonly editor: string;
  readonly agent: string;
  readonly conductor: string;
}

/** A proxy that was initialized, with what it logged. */
function open(method: string | null = "proxy/initialize") {
  const logged: string[] = [];
  const routing = new Routing((level, text) => logged.push(`${level}: ${text}`));
  const read = (...lines: string[]): Sorted => {
    const { editor, agent, conductor } = routing.readBlock(Buffer.from(lines.join("\n") + "\n"));
    const [joinedEditor, joinedAgent, answers] = [editor, agent, conductor].map((pieces) =>
      Buffer.concat(pieces).toString(),
    ) as [string, string, string];
    return { editor: joinedEditor, agent: joinedAgent, conductor: answers };
  };
  if (method !== null) read(`{"jsonrpc":"2.0","id":0,"method":"${method}","params":{}}`);
  return {
    logged,
    read,
    wrap: (...lines: string[]) => Buffer.concat(routing.toSuccessor(Buffer.from(lines.join("\n") + "\n"))).toString(),
  };
}

const nothing: Sorted = { editor: "", agent: "", conductor: "" };
const update = '"method":"session/update","params":{"sessionId":"s","update":{"n":12345678901234567890}}';

test("turns proxy/initialize into initialize", () => {
  const { read } = open(null);
  const line =
    '{"jsonrpc":"2.0", "id":1, "method":"proxy/initialize", "params":{"protocolVersion":1,"big":12345678901234567890}}';
  expect(read(line)).toEqual({ ...nothing, editor: `${line.replace("proxy/initialize", "initialize")}\n` });
});

test.each([
  ["", "proxy/successor"],
  ["_", "_proxy/successor"],
])("uses the names that it was initialized with: %sproxy/…", (prefix, successor) => {
  const { wrap } = open(`${prefix}proxy/initialize`);
  expect(wrap('{"jsonrpc":"2.0","id":"a","method":"session/new","params":{"cwd":"/"}}')).toBe(
    `{"jsonrpc":"2.0","id":"a","method":"${successor}","params":{"method":"session/new","params":{"cwd":"/"}}}\n`,
  );
});

test("takes the envelope off what the successor sends, in every form", () => {
  const { read } = open();
  const forms = [
    `{"jsonrpc":"2.0","method":"proxy/successor","params":{${update}}}`,
    `{"jsonrpc":"2.0","method":"_proxy/successor","params":{${update}}}`,
    `{"jsonrpc":"2.0","method":"proxy\\/successor","params":{${update}}}`,
    `{"params":{${update}},"method":"proxy/successor","jsonrpc":"2.0"}`,
    `{"method":"proxy/successor","params":{${update}}}`,
    ` { "jsonrpc" : "2.0" , "method" : "proxy/successor" , "params" : { ${update} } } \r`,
    `{"jsonrpc":"2.0","method":"proxy/successor","params":{${update},"_meta":{"hop":{"local":{}}}}}`,
    `{"jsonrpc":"2.0","method":"proxy/successor","params":{${update} ,"meta":{"hop":{"local":{}}}}}`,
    `{"jsonrpc":"2.0","method":"proxy/successor","params":{"_meta":null,${update}}}`,
    `{"jsonrpc":"2.0","method":"proxy/successor","params":{${update}},"trace":{"a":{"b":{}}}}`,
  ];
  for (const form of forms) expect(read(form)).toEqual({ ...nothing, agent: `{"jsonrpc":"2.0",${update}}\n` });
});

test("keeps the _meta of the message inside", () => {
  const { read } = open();
  const inner = '"method":"session/update","params":{"_meta":{"traceparent":"00"},"update":{"a":{}}}';
  expect(read(`{"jsonrpc":"2.0","method":"proxy/successor","params":{${inner}}}`).agent).toBe(
    `{"jsonrpc":"2.0",${inner}}\n`,
  );
});

test("leaves out params that are null", () => {
  const { read, wrap } = open();
  const ping = '{"jsonrpc":"2.0","id":1,"method":"_ping"}\n';
  expect(read('{"id":1,"method":"proxy/successor","params":{"method":"_ping","params":null}}').agent).toBe(ping);
  expect(wrap(ping.trimEnd())).toBe(
    '{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"method":"_ping","params":null}}\n',
  );
});

test("keeps the agent's messages in order, steady and others", () => {
  const { read } = open();
  const envelope = (text: string): string =>
    `{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"session/update","params":{"u":{"text":"${text}"}}}}`;
  const plain = (text: string): string =>
    `{"jsonrpc":"2.0","method":"session/update","params":{"u":{"text":"${text}"}}}`;
  const response = '{"jsonrpc":"2.0","id":7,"result":{}}';
  const texts = ["a", "if (x) { y(); } ", "é ✓", 'b\\"},{'];
  const lines = [envelope(texts[0]!), response, ...texts.slice(1).map(envelope), response];
  const expected = [plain(texts[0]!), response, ...texts.slice(1).map(plain), response];
  expect(read(...lines)).toEqual({ ...nothing, agent: expected.map((line) => `${line}\n`).join("") });
});

test("returns each response to the side that asked, with its bytes", () => {
  const { read } = open();
  read('{"id":18446744073709551615,"method":"proxy/successor","params":{"method":"fs/read_text_file"}}');
  const big = '{ "jsonrpc": "2.0", "id": 18446744073709551615, "result": {"n": 1.0} }\n';
  expect(read(big.trimEnd())).toEqual({ ...nothing, editor: big });
  // The same number again: answered, so that it is the agent's response to another request.
  expect(read(big.trimEnd())).toEqual({ ...nothing, agent: big });
  const ours = '{"jsonrpc":"2.0","id":"acp-skills:1","error":{"code":-32601,"message":"no"}}\n';
  expect(read(ours.trimEnd())).toEqual({ ...nothing, editor: ours });
});

test("knows an id in another spelling", () => {
  const { read } = open();
  read('{"id":"a/b","method":"proxy/successor","params":{"method":"fs/read_text_file"}}');
  expect(read('{"id":"a\\/b","result":{}}')).toEqual({ ...nothing, editor: '{"id":"a\\/b","result":{}}\n' });
});

test("passes responses that nobody waits for to the conductor, which ignores them", () => {
  const line = '{"jsonrpc":"2.0","id":"unknown","result":null}\n';
  expect(open().read(line.trimEnd())).toEqual({ ...nothing, agent: line });
});

test("passes cancellations unwrapped, in the order of the side that asked", () => {
  const { read, wrap } = open();
  const cancel = (id: string): string => `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":${id}}}`;
  read('{"id":"p","method":"proxy/successor","params":{"method":"session/request_permission","params":{}}}');
  expect(read(cancel('"p"'))).toEqual({ ...nothing, agent: `${cancel('"p"')}\n` });
  expect(read(cancel("5"))).toEqual({ ...nothing, editor: `${cancel("5")}\n` });
  expect(wrap(cancel("5"))).toBe(`${cancel("5")}\n`);
});

test("drops a cancellation that was sent on from another hop", () => {
  const { read } = open();
  const inner = '"method":"$/cancel_request","params":{"requestId":{"a":{}}}';
  expect(read(`{"jsonrpc":"2.0","method":"proxy/successor","params":{${inner}}}`)).toEqual(nothing);
});

test("drops it in any spelling", () => {
  const { read } = open();
  const inner = '"method":"\\u0024/cancel_request","params":{"requestId":{"a":{}}}';
  expect(read(`{"jsonrpc":"2.0","method":"proxy/successor","params":{${inner}}}`)).toEqual(nothing);
});

test.each(["proxy/successor", "_proxy/successor", "proxy\\/successor", "proxy/initialize", "_proxy/initialize"])(
  "lets no agent speak to the conductor in our name: %s in an envelope",
  (method) => {
    const { read, logged } = open();
    const inner = `"method":"${method}","params":{"method":"session/prompt","params":{"a":{}}}`;
    const { conductor, ...rest } = read(`{"jsonrpc":"2.0","id":3,"method":"proxy/successor","params":{${inner}}}`);
    expect(rest).toEqual({ editor: "", agent: "" });
    expect(conductor).toContain('"id":3,"error":{"code":-32600');
    expect(read(`{"jsonrpc":"2.0","method":"proxy/successor","params":{${inner}}}`)).toEqual(nothing);
    expect(logged).toEqual([expect.stringMatching(/^warning: .* It was ignored\.$/)]);
    // It was not remembered as a request of the agent.
    const response = '{"jsonrpc":"2.0","id":3,"result":{}}';
    expect(read(response)).toEqual({ ...nothing, agent: `${response}\n` });
  },
);

test("does not remember ids that no conductor makes", () => {
  const { read } = open();
  const id = `"${"x".repeat(10_000)}"`;
  expect(read(`{"id":${id},"method":"proxy/successor","params":{"method":"fs/read_text_file"}}`).agent).toContain(id);
  const response = `{"id":${id},"result":{}}`;
  expect(read(response)).toEqual({ ...nothing, agent: `${response}\n` });
});

test("forgets the oldest of many requests that nobody answers, and passes all responses", () => {
  const { read } = open();
  const ids = Array.from({ length: 5_000 }, (_, id) => id);
  read(...ids.map((id) => `{"id":${id},"method":"proxy/successor","params":{"method":"fs/read_text_file"}}`));
  const respond = (id: number): string => `{"id":${id},"result":{}}`;
  expect(read(respond(0))).toEqual({ ...nothing, agent: `${respond(0)}\n` });
  expect(read(respond(4_999))).toEqual({ ...nothing, editor: `${respond(4_999)}\n` });
});

test("takes a request with an id that is in use as another request", () => {
  const { read } = open();
  const request = '{"id":1,"method":"proxy/successor","params":{"method":"fs/read_text_file"}}';
  read(request, request);
  const response = '{"id":1,"result":{}}';
  expect(read(response)).toEqual({ ...nothing, editor: `${response}\n` });
  expect(read(response)).toEqual({ ...nothing, agent: `${response}\n` });
});

test("refuses to be the agent, in a sentence that says what to do", () => {
  const { read, logged } = open(null);
  const { conductor, ...rest } = read('{"jsonrpc":"2.0","id":9007199254740993,"method":"initialize","params":{}}');
  expect(rest).toEqual({ editor: "", agent: "" });
  expect(conductor).toContain('"id":9007199254740993,"error":{"code":-32600,"message":"acp-skills proxy is no agent');
  expect(conductor).toContain("acp-skills -- AGENT");
  expect(logged).toEqual([expect.stringContaining("acp-skills proxy is no agent")]);
});

test("refuses requests before proxy/initialize, and ignores notifications", () => {
  const { read, logged } = open(null);
  const { conductor } = read(
    '{"id":"x","method":"session/new","params":{}}',
    '{"method":"session/cancel","params":{}}',
  );
  expect(conductor).toContain(
    '"id":"x","error":{"code":-32600,"message":"proxy/initialize must come before session/new."',
  );
  expect(logged).toEqual(["warning: proxy/initialize must come before session/cancel. It was ignored."]);
});

test("refuses an envelope without a message", () => {
  const { read, logged } = open();
  expect(read('{"id":1,"method":"proxy/successor","params":[]}').conductor).toContain('"id":1,"error":{"code":-32600');
  expect(read('{"method":"proxy/successor"}')).toEqual(nothing);
  expect(logged).toEqual(["warning: proxy/successor needs params with a method. It was ignored."]);
});

test("ignores what is no message, and says so once", () => {
  const { read, logged } = open();
  const garbage = ["hello", "", "{", '{"a":1}{}', '{"method":7}', '{"id":null,"error":{"code":-32700}}', '{"id":"\\'];
  expect(read(...garbage)).toEqual(nothing);
  expect(logged).toEqual(['warning: The conductor wrote a line that is not a message; it was ignored: "hello"']);
});

test("passes a message of 40 MiB", () => {
  const { read } = open();
  const text = "x".repeat(40 * 1024 * 1024) + '\\\\\\"'.repeat(10_000);
  const inner = `"method":"session/update","params":{"text":"${text}"}`;
  const { agent } = read(`{"jsonrpc":"2.0","method":"proxy/successor","params":{${inner}}}`);
  expect(agent === `{"jsonrpc":"2.0",${inner}}\n`).toBe(true);
});

const json = fc.json({ maxDepth: 3 });
/** A request or notification, as any serialiser may write it. */
const message = fc
  .record({
    id: fc.option(
      fc.oneof(
        fc.bigInt().map(String),
        fc.string().map((id) => JSON.stringify(id)),
      ),
      { nil: undefined },
    ),
    method: fc.string({ minLength: 1 }).map((name) => JSON.stringify(`x${name}`)),
    params: fc.option(
      fc.oneof(
        json.map((value) => `{"v":${value},"n":1e400}`),
        json.map((value) => `[${value}]`),
      ),
      {
        nil: undefined,
      },
    ),
  })
  .map(({ id, method, params }) =>
    [`"jsonrpc":"2.0"`, id && `"id":${id}`, `"method":${method}`, params && `"params":${params}`].filter(
      (field) => field !== undefined,
    ),
  );

test("passes any message of both sides with ids and numbers intact", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(message, fc.nat())), (messages) => {
      const { read, wrap } = open();
      const plain = messages.map(([fields]) => `{${fields.join(",")}}\n`).join("");
      // Other orders of keys mean the same.
      const turned = messages.map(([fields, by]) => {
        const at = by % fields.length;
        return `{${[...fields.slice(at), ...fields.slice(0, at)].join(", ")}}`;
      });
      if (turned.length === 0) return;
      const wrapped = wrap(...turned);
      expect(read(...turned)).toEqual({ ...nothing, editor: turned.map((line) => `${line}\n`).join("") });
      expect(read(wrapped.trimEnd())).toEqual({ ...nothing, agent: plain });
    }),
  );
});

const ofAgent = (inner: string, more = ""): string =>
  `{"jsonrpc":"2.0",${more}"method":"proxy/successor","params":{${inner}}}`;
const invalid =
  '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"A batch must have messages, and nothing else."}}\n';

test("routes each message of a batch, in order", () => {
  const { read, logged } = open();
  const request = '{"jsonrpc":"2.0","id":7,"method":"session/list","params":{"a":[{},"]"]}}';
  const asked = ofAgent('"method":"fs/read_text_file","params":{"path":"/"}', '"id":8,');
  const answer = '{"jsonrpc":"2.0","id":8,"result":{}}';
  expect(read(ofAgent(update), ` [${request} , ${ofAgent(update)},\t${asked}] \r`, ofAgent(update))).toEqual({
    editor: `${request}\n`,
    agent: `{"jsonrpc":"2.0",${update}}\n{"jsonrpc":"2.0",${update}}\n{"jsonrpc":"2.0","id":8,"method":"fs/read_text_file","params":{"path":"/"}}\n{"jsonrpc":"2.0",${update}}\n`,
    conductor: "",
  });
  expect(read(`[${answer}]`)).toEqual({ ...nothing, editor: `${answer}\n` });
  const many = Array.from({ length: 1_000 }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"_ping"}`);
  expect(read(`[${many.join()}]`).editor).toBe(`${many.join("\n")}\n`);
  const large = `{"jsonrpc":"2.0","method":"_large","params":{"text":"${"]},".repeat(300_000)}"}}`;
  expect(read(`[${large},${large}]`).editor).toBe(`${large}\n${large}\n`);
  expect(logged).toEqual([]);
});

test.each([
  ["[]", ""],
  ["[ ]", ""],
  ["[[]]", ""],
  [`[1,${"[".repeat(10_000)}${"]".repeat(10_000)},null]`, ""],
  [
    '[1,{"jsonrpc":"2.0","method":"_ping"},[{"jsonrpc":"2.0","method":"_hidden"}]]',
    '{"jsonrpc":"2.0","method":"_ping"}\n',
  ],
])("answers once for what is no message in the batch %.20s", (batch, editor) => {
  expect(open().read(batch)).toEqual({ ...nothing, editor, conductor: invalid });
});

test.each(["[", "[1", '[{"jsonrpc":"2.0","method":"_ping"}', '[{"jsonrpc":"2.0","method":"_ping"}]]', "[1,]x", "[,]"])(
  "ignores %s, which is no batch",
  (line) => {
    const { read, logged } = open();
    expect(read(line)).toEqual(nothing);
    expect(logged).toHaveLength(1);
  },
);

test("answers requests of a batch that come too early", () => {
  const { conductor } = open(null).read(
    '[{"jsonrpc":"2.0","id":1,"method":"initialize"},{"jsonrpc":"2.0","id":2,"method":"x"}]',
  );
  expect(
    conductor
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { id: number }).id),
  ).toEqual([1, 2]);
});

test("finds the elements of any array, whatever is in them", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.boolean(), (values, isSpaced) => {
      const line = Buffer.from(
        isSpaced ? JSON.stringify(values, null, 1).replaceAll("\n", " ") : JSON.stringify(values),
      );
      expect(readBatch(line)?.map((element) => JSON.parse(element.toString()) as unknown)).toEqual(
        JSON.parse(JSON.stringify(values)),
      );
    }),
  );
});
