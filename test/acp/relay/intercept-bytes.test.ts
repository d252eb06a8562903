import fc from "fast-check";
import { expect, test } from "vitest";
import type { AgentTools } from "../../../src/acp/service/tools/agent-tools.ts";
import { type ByteInterceptor, interceptBytes } from "../../../src/acp/relay/intercept-bytes.ts";
import { openLocalService } from "../../../src/acp/service/local-service.ts";
import { readOptions } from "../../../src/runtime/options.ts";
import { cut } from "../cut.ts";
import { type ManualClock, manualClock } from "../../manual-clock.ts";
import { fakeService } from "../fake-service.ts";
import { fakeTools } from "../fake-tools.ts";
import { memorySkillset, offer } from "../memory-skillset.ts";
import { LineBlocks } from "../../../src/base/json/line-blocks.ts";

interface Wire {
  /** Sends text in chunks of the given sizes and returns what reaches the other end. */
  readonly fromEditor: (text: string, sizes?: Iterator<number>) => Promise<string>;
  readonly fromAgent: (text: string, sizes?: Iterator<number>) => Promise<string>;
  /** Lines that the interceptor itself sends to the editor and to the agent. */
  readonly sent: string[];
  readonly answered: string[];
  readonly logged: string[];
  readonly clock: ManualClock;
}

function wire(skillset = memorySkillset([offer("pdf")]), announce: "auto" | "none" = "auto", tools?: AgentTools): Wire {
  const sent: string[] = [];
  const logged: string[] = [];
  const clock = manualClock();
  const settings = readOptions(
    { announce, tools: tools ? "auto" : "none", log: (_level: string, text: string) => logged.push(text) },
    { clock },
  );
  const answered: string[] = [];
  const sinks = {
    toEditor(line: Uint8Array, written: () => void) {
      sent.push(Buffer.from(line).toString());
      written();
    },
    toAgent: (line: Buffer) => answered.push(line.toString()),
  };
  const bytes = interceptBytes(openLocalService(settings, { skillset, tools }), settings, sinks);
  const through =
    (pass: ByteInterceptor["passFromEditor"]) =>
    async (text: string, sizes: Iterator<number> = [][Symbol.iterator]()): Promise<string> => {
      const lines = new LineBlocks();
      const out: Buffer[] = [];
      const flush = (pieces: readonly Buffer[]): void => void out.push(...pieces);
      for (const chunk of cut(Buffer.from(text), sizes))
        for (const block of lines.push(chunk)) out.push(...(await pass(block, flush)));
      const rest = lines.rest();
      if (rest !== undefined) out.push(...(await pass(rest, flush)));
      return Buffer.concat(out).toString();
    };
  const [fromEditor, fromAgent] = [through(bytes.passFromEditor), through(bytes.passFromAgent)];
  return { fromEditor, fromAgent, sent, answered, logged, clock };
}

const initialize = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n';
const initialized = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\n';
const newSession =
  '{"jsonrpc":"2.0","id":9007199254740993,"method":"session/new","params":{"cwd":"/p","mcpServers":[]}}\n';
const session = '{"jsonrpc":"2.0","id":9007199254740993,"result":{"sessionId":"s"}}\n';

/** Lines from an agent or an editor that must be forwarded unchanged. */
const strangeLines = [
  '{"jsonrpc":"2.0","id":9007199254740993,"method":"fs/read_text_file","params":{"line":1.0,"n":12345678901234567890}}',
  '{"jsonrpc":"2.0","method":"_vendor/whatever","params":[1e400,-0,"\\ud800","\\u00e9é🦀"]}',
  '[{"jsonrpc":"2.0","id":1,"method":"session/new"},{"jsonrpc":"2.0","id":2,"method":"initialize"}]',
  '{ "method" : "session\\/cancel" , "params" : { "sessionId":"s" } }',
  '{"id":null,"error":{"code":-32700,"message":"Parse error"}}',
  '{"jsonrpc":"2.0","id":"text","result":null}',
  '{"a":1,"a":2}',
  "garbage: available_commands_update session/prompt",
  "\u0000\u0001\ufeff",
  "{broken",
  "null",
  "",
  "   \r",
];

test.each([
  ["before initialize", false],
  ["after initialize", true],
])("forwards unrelated lines byte for byte, however they are chunked, %s", async (_when, isInitialized) => {
  const lines = fc.array(fc.oneof(fc.constantFrom(...strangeLines), fc.json(), fc.string()), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(lines, fc.infiniteStream(fc.nat(40)), fc.boolean(), async (texts, sizes, endsWithBreak) => {
      const { fromEditor, fromAgent, sent } = wire(memorySkillset());
      if (isInitialized) {
        await fromEditor(initialize);
        await fromAgent(initialized);
      }
      const text = texts.join("\n") + (endsWithBreak ? "\n" : "");
      expect(await fromEditor(text, sizes)).toBe(text);
      expect(await fromAgent(text, sizes)).toBe(text);
      expect(sent).toEqual([]);
    }),
  );
});

test("forwards bytes that are not valid UTF-8 unchanged", async () => {
  const settings = readOptions({ tools: "none" });
  const service = openLocalService(settings, { skillset: memorySkillset() });
  const { passFromAgent } = interceptBytes(service, settings, {
    toEditor: () => undefined,
    toAgent: () => undefined,
  });
  const line = Buffer.from([0xff, 0xfe, 0x7b, 0x7d, 10]);
  expect(Buffer.concat(await passFromAgent(line, () => undefined))).toEqual(line);
});

test("forwards messages of 20 MB in both directions in linear time", async () => {
  const { fromEditor, fromAgent } = wire(memorySkillset());
  await fromEditor(initialize);
  await fromAgent(initialized);
  const big = `{"jsonrpc":"2.0","method":"x","params":"${"é".repeat(10_000_000)}"}\n`;
  const chunks = function* (): Iterator<number> {
    for (;;) yield 65_536;
  };
  expect((await fromEditor(big, chunks())) === big).toBe(true);
  expect((await fromAgent(big, chunks())) === big).toBe(true);
});

test("keeps the bytes of a line outside of the amended part", async () => {
  const { fromEditor, fromAgent } = wire();
  await fromEditor(initialize);
  const answer = '{"id": 0,"x":9007199254740993, "result":{"protocolVersion":1 ,"agentCapabilities":{"a":1.0}}}\r\n';
  const amended = await fromAgent(answer);
  expect(
    amended.startsWith(
      '{"id": 0,"x":9007199254740993, "result":{"protocolVersion":1 ,"agentCapabilities":{"a":1.0,"_meta":{"acp-skills":',
    ),
  ).toBe(true);
  expect(amended.endsWith("}}}}}\r\n")).toBe(true);
});

test("matches an id above 2^53 and keeps its digits", async () => {
  const { fromEditor, fromAgent, sent, clock } = wire();
  await fromEditor(initialize);
  await fromAgent(initialized);
  expect(await fromEditor(newSession)).toBe(newSession);
  expect(await fromAgent(session)).toBe(session);
  clock.pass(50);
  await Promise.resolve();
  expect(sent.map((line) => (JSON.parse(line) as { method: string }).method)).toEqual(["session/update"]);
});

test("keeps an amended line in order", async () => {
  const { fromEditor, fromAgent, clock } = wire();
  await fromEditor(initialize);
  await fromAgent(initialized);
  await fromEditor(newSession);
  await fromAgent(session);
  clock.pass(50);
  await Promise.resolve();
  const list =
    '{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"init","n":9007199254740993}]}}}';
  const through = await fromAgent(`{"a":1}\n${list}\n{"b":2}\n${list}\n`);
  const lines = through.split("\n");
  expect([lines[0], lines[2], lines[4]]).toEqual(['{"a":1}', '{"b":2}', ""]);
  expect(lines[1]).toBe(lines[3]);
  expect(lines[1]).toContain('"availableCommands":[{"name":"init","n":9007199254740993},{"name":"pdf"');
});

test("keeps a prompt that waits for a skill in order", async () => {
  const { fromEditor, fromAgent } = wire();
  await fromEditor(initialize);
  await fromAgent(initialized);
  await fromEditor(newSession);
  await fromAgent(session);
  const call =
    '{"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"/pdf x"}]}}';
  const through = await fromEditor(`{"a":1}\n${call}\n{"b":2}\n`);
  expect(through).toBe(`{"a":1}\n${call}\n{"b":2}\n`);
});

test("recognises a method whose slash is escaped", async () => {
  const { fromEditor, fromAgent, sent, clock } = wire();
  await fromEditor(initialize);
  await fromAgent(initialized);
  await fromEditor('{"id":1,"method":"session\\/new","params":{"cwd":"\\/p"}}\n');
  await fromAgent('{"id":1,"result":{"sessionId":"s"}}\n');
  clock.pass(50);
  await Promise.resolve();
  expect(sent).toHaveLength(1);
});

test("logs invalid JSON once per direction while every line is parsed", async () => {
  const { fromEditor, fromAgent, logged } = wire();
  expect(await fromAgent("Welcome!\nagain\n")).toBe("Welcome!\nagain\n");
  await fromEditor("nonsense\n");
  expect(logged).toEqual([
    expect.stringContaining('agent wrote a line that is not JSON; it was forwarded unchanged: "Welcome!"'),
    expect.stringContaining("editor"),
  ]);
});

test("does not parse messages during a turn", async () => {
  const { fromEditor, fromAgent, logged } = wire();
  await fromEditor(initialize);
  await fromAgent(initialized);
  expect(await fromAgent("not JSON at all\n")).toBe("not JSON at all\n");
  expect(logged).toEqual([]);
});

test("adds our MCP server to a session request and keeps all other bytes", async () => {
  const { fromEditor, fromAgent } = wire(undefined, undefined, fakeTools());
  await fromEditor(initialize);
  await fromAgent(initialized);
  const line = await fromEditor(newSession);
  const entry = /,?(\{"name":"skills".*\})\]\}\}\n$/.exec(line)?.[1] ?? "";
  expect(JSON.parse(entry)).toMatchObject({ name: "skills", command: process.execPath });
  expect(line.replace(entry, "")).toBe(newSession);
});

test("answers calls of our tools and does not forward them, however they are chunked", async () => {
  const { fromEditor, fromAgent, sent, answered } = wire(undefined, undefined, fakeTools());
  await fromEditor(initialize);
  await fromAgent(initialized);
  await fromEditor(newSession);
  await fromAgent(session);
  const calls = ["_acp-skills/list_skills", "_acp-skills\\/read_blob"].map(
    (method, id) => `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{}}\n`,
  );
  const around = `${strangeLines.join("\n")}\n`;
  const sizes = function* (): Iterator<number> {
    for (;;) yield 7;
  };
  expect(await fromEditor(around + calls.join(around) + around, sizes())).toBe(around.repeat(3));
  await new Promise(setImmediate);
  expect(sent.map((line) => JSON.parse(line) as unknown)).toEqual([
    { jsonrpc: "2.0", id: 0, result: { name: "list_skills", args: {} } },
    { jsonrpc: "2.0", id: 1, result: { name: "read_blob", args: {} } },
  ]);
  expect(answered).toEqual([]);
});

test("answers permission requests for our read-only tools and only changes texts of others", async () => {
  const { fromEditor, fromAgent, answered, sent } = wire(undefined, undefined, fakeTools());
  await fromEditor(initialize);
  await fromAgent(initialized);
  await fromEditor(newSession);
  await fromAgent(session);
  const asking = (tool: string): string =>
    `{"jsonrpc":"2.0","id":4,"method":"session\\/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"${tool}","name":"mcp__skills__${tool}"},"options":[{"optionId":"o","kind":"allow_once","name":"Yes"}]}}\n`;
  expect(await fromAgent(asking("run_code") + asking("describe_skill") + asking("x"))).toBe(
    asking("run_code").replace('run_code"}', 'run_code","title":"Run Python code","kind":"execute"}') + asking("x"),
  );
  expect(answered.map((line) => JSON.parse(line) as unknown)).toEqual([
    { jsonrpc: "2.0", id: 4, result: { outcome: { outcome: "selected", optionId: "o" } } },
  ]);
  expect(sent).toEqual([]);
});

test("forgets a session that could not be loaded", async () => {
  const { fromEditor, fromAgent } = wire(undefined, undefined, fakeTools());
  await fromEditor(initialize);
  await fromAgent(initialized);
  await fromEditor('{"id":3,"method":"session/load","params":{"sessionId":"x","cwd":"/p","mcpServers":[]}}\n');
  const told = (name: string): string =>
    `{"method":"session/update","params":{"sessionId":"x","update":{"sessionUpdate":"tool_call","toolCallId":"${name}","name":"mcp__skills__run_code"}}}\n`;
  expect(await fromAgent(told("a"))).not.toBe(told("a"));
  await fromAgent('{"id":3,"error":{"code":-32602,"message":"There is no such session"}}\n');
  expect(await fromAgent(told("b"))).toBe(told("b"));
});

const answers = ["at once", "late", "never", "rejects", "throws"] as const;

test("forwards bytes unchanged and in order while the service is slow, silent or failing", async () => {
  const fromEither = {
    editor: [
      newSession,
      '{"id":5,"method":"session/load","params":{"sessionId":"s","cwd":"/p","mcpServers":[]}}\n',
      '{"id":6,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"/pdf x"}]}}\n',
      '{"id":7,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hello"}]}}\n',
      '{"id":8,"method":"session/close","params":{"sessionId":"s"}}\n',
      '{"method":"session/cancel","params":{"sessionId":"s"}}\n',
    ],
    agent: [
      session,
      '{"id":5,"result":{}}\n',
      '{"id":8,"result":{}}\n',
      '{"id":6,"result":{"stopReason":"end_turn"}}\n',
      '{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"init"}]}}}\n',
      '{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}\n',
    ],
  };
  const step = fc.oneof(
    fc.record({ from: fc.constant("editor" as const), line: fc.constantFrom(...fromEither.editor) }),
    fc.record({ from: fc.constant("agent" as const), line: fc.constantFrom(...fromEither.agent) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.infiniteStream(fc.constantFrom(...answers)),
      async (steps, how) => {
        const clock = manualClock();
        const settings = readOptions({}, { clock });
        const answer = (): Promise<undefined> => {
          switch (how.next().value) {
            case "late":
              return new Promise((resolve) => clock.after(3_000, () => resolve(undefined)));
            case "never":
              return new Promise(() => undefined);
            case "rejects":
              return Promise.reject(new Error("a fault"));
            case "throws":
              throw new Error("a fault");
            default:
              return Promise.resolve(undefined);
          }
        };
        const service = fakeService({ equip: answer, agentListed: answer, invoke: answer });
        const bytes = interceptBytes(service, settings, { toEditor: () => undefined, toAgent: () => undefined });
        const out = { editor: "", agent: "" };
        const pass = async (from: "editor" | "agent", text: string): Promise<void> => {
          const look = from === "editor" ? bytes.passFromEditor : bytes.passFromAgent;
          const keep = (pieces: readonly Buffer[]): void => {
            out[from] += Buffer.concat(pieces).toString();
          };
          keep(await look(Buffer.from(text), keep));
        };
        await pass("editor", initialize);
        await pass("agent", '{"id":0,"error":{"code":-32603,"message":"not now"}}\n');
        await pass("editor", initialize);
        await pass("agent", initialized);
        out.editor = out.agent = "";
        const of = (from: "editor" | "agent"): string =>
          steps.flatMap((one) => (one.from === from ? [one.line] : [])).join("");
        // The two directions do not wait for each other.
        const passing = Promise.all([pass("editor", of("editor")), pass("agent", of("agent"))]);
        const state = { isOver: false };
        void passing.finally(() => (state.isOver = true));
        while (!state.isOver) {
          await new Promise(setImmediate);
          clock.pass(60_000);
        }
        await passing;
        expect(out).toEqual({ editor: of("editor"), agent: of("agent") });
      },
    ),
  );
});
