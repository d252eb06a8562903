import { beforeEach, expect, test, vi } from "vitest";
import { AgentRequests } from "../../../src/acp/ask/agent-requests.ts";
import { amendValue, type Verdict } from "../../../src/acp/bytes/amend.ts";
import type { ServiceConnection, UseDecision } from "../../../src/acp/service/skill-service.ts";
import { factsOf } from "../../../src/acp/session/agents.ts";
import type { RelayedSession } from "../../../src/acp/session/relayed-session.ts";
import type { Question } from "../../../src/trust/asking/question.ts";
import { createDeferred } from "../../../src/base/promises/deferred.ts";
import { manualClock } from "../../manual-clock.ts";

beforeEach(() => {
  vi.stubEnv("SHELL", "/bin/bash");
  return () => vi.unstubAllEnvs();
});

const question: Question = {
  about: "tool",
  title: "Agent tools (use Bash(git:*) without asking, the rest is asked): for deploy 1.0.0 (abc)",
  options: [
    { answer: "once", label: "Run once", kind: "allow_once" },
    { answer: "trust", label: "Trust this exact version", kind: "allow_always" },
    { answer: "not-now", label: "Not now", kind: "reject_once" },
    { answer: "block", label: "Block this skill", kind: "reject_always" },
  ],
  wants: [],
  widened: [],
  changed: [],
};
const asks: UseDecision = { kind: "ask", ticket: 4, question };
const skill = { name: "deploy", version: "1.0.0", digest: "sha256:abc" };
const allows: UseDecision = { kind: "allowed", ticket: 4, skill, pattern: "Bash(git:*)" };
const toolCall = {
  toolCallId: "call_1",
  name: "Bash",
  title: "git status",
  kind: "execute",
  rawInput: { command: "git status" },
  content: [{ type: "content", content: { type: "text", text: "Shows the status" } }],
};
const bare = { ...toolCall, content: [] };
const offered = [
  { optionId: "yes", kind: "allow_once", name: "Yes" },
  { optionId: "all", kind: "allow_always", name: "Always" },
  { optionId: "no", kind: "reject_once", name: "No" },
];

function prepare(methods: Partial<Pick<ServiceConnection, "decideUse" | "useAnswered">>, approve = true) {
  const clock = manualClock();
  const [replies, notified, told, logged]: [unknown[], unknown[], unknown[], string[]] = [[], [], [], []];
  const requests = new AgentRequests({
    service: {
      decideUse: () => asks,
      useAnswered: (_key, _ticket, reply) => reply.answer === "once" || reply.answer === "trust",
      useAllowed: (...args) => told.push(args),
      ...methods,
    },
    settings: { approve, clock, log: (_level, line) => void logged.push(line) },
    reply: (message) => replies.push(message),
    notify: (message) => notified.push(message),
  });
  const calls = { facts: factsOf("claude"), server: { name: "skills", others: [] } };
  const session = { key: 1, calls } as unknown as RelayedSession;
  const look = (params: object = {}, id: number | string = 7): Verdict | Promise<Verdict> =>
    requests.look(id, { sessionId: "s", toolCall: bare, options: offered, ...params }, session, 1);
  /** What reaches the editor. */
  const amended = async (params: object = {}, id: number | string = 7): Promise<Asked> => {
    const message = { id, params: { sessionId: "s", toolCall: bare, options: offered, ...params } };
    const verdict = await look(params, id);
    return amendValue(message, ("amendments" in verdict && verdict.amendments) || []) as Asked;
  };
  /** What reaches the agent; undefined if the response is not ours. */
  const answered = async (message: object): Promise<unknown> => {
    const verdict = await requests.answered(message as never);
    return verdict && amendValue(message, ("amendments" in verdict && verdict.amendments) || []);
  };
  return { requests, clock, replies, notified, told, logged, look, amended, answered };
}

interface Asked {
  readonly params: {
    readonly options: readonly { readonly optionId: string; readonly kind: string; readonly name: string }[];
    readonly toolCall: { readonly title: string; readonly content: readonly unknown[]; readonly rawInput: unknown };
  };
}

const selected = (id: number | string, optionId: unknown): object => ({
  jsonrpc: "2.0",
  id,
  result: { outcome: { outcome: "selected", optionId } },
});
const untouched = { forward: true };

test("puts the question into the agent's request and the answer into the editor's response", async () => {
  for (const [kind, optionId] of [
    ["allow_once", "yes"],
    ["allow_always", "yes"],
    ["reject_once", "no"],
    ["reject_always", "no"],
  ]) {
    const { amended, answered, requests } = prepare({});
    const { params } = await amended();
    expect(params.options.map((option) => option.kind)).toEqual(question.options.map((option) => option.kind));
    expect(params.toolCall).toEqual({ ...bare, title: question.title });
    expect(requests.isEmpty).toBe(false);
    const ours = params.options.find((option) => option.kind === kind)?.optionId;
    expect(await answered(selected(7, ours))).toEqual(selected(7, optionId));
    expect(requests.isEmpty).toBe(true);
  }
});

test.each<[string, (ours: string) => object]>([
  ["an option of the agent", () => selected(7, "yes")],
  ["an unknown option", () => selected(7, "acp-skills:trust")],
  ["the option of another question", (ours) => selected(7, `${ours}0`)],
  ["an option that is not text", () => selected(7, 1)],
  ["another outcome", () => ({ jsonrpc: "2.0", id: 7, result: { outcome: { outcome: "allowed" } } })],
  ["no outcome", () => ({ jsonrpc: "2.0", id: 7, result: {} })],
])("%s as the answer allows nothing", async (_what, respond) => {
  const { amended, answered } = prepare({});
  const { params } = await amended();
  expect(await answered(respond(params.options[0]?.optionId ?? ""))).toEqual(selected(7, "no"));
});

test("an answer that nobody can have read the question for counts once at most", async () => {
  for (const [place, elapsed, reply] of [
    [1, 399, { answer: "once", byItself: true }],
    [1, 400, { answer: "trust" }],
    [3, 1, { answer: "not-now", byItself: true }],
  ] as const) {
    const replies: unknown[] = [];
    const { amended, answered, clock } = prepare({ useAnswered: (_key, _ticket, given) => replies.push(given) > 0 });
    const { params } = await amended();
    clock.pass(elapsed);
    await answered(selected(7, params.options[place]?.optionId));
    expect(replies).toEqual([reply]);
  }
});

test("an editor that answers a hundred requests in 1 ms each is told of once", async () => {
  const { amended, answered, clock, logged } = prepare({});
  for (let id = 1; id <= 100; id++) {
    const { params } = await amended({}, id);
    clock.pass(1);
    expect(await answered(selected(id, params.options[1]?.optionId))).toEqual(selected(id, "yes"));
  }
  expect(logged).toEqual([expect.stringContaining("before a person could read it")]);
});

test("an agent whose options have our ids gets the option of its own that is meant", async () => {
  const options = [
    { optionId: "reject_always", kind: "allow_once", name: "Yes" },
    { optionId: "allow_once", kind: "allow_always", name: "Always" },
    { optionId: "allow", kind: "reject_once", name: "No" },
  ];
  for (const [ours, agents] of [
    ["allow_once", "reject_always"],
    ["allow", "reject_always"],
    ["reject_once", "allow"],
    ["reject_always", "allow"],
  ]) {
    const { amended, answered } = prepare({});
    await amended({ options });
    expect(await answered(selected(7, ours))).toEqual(selected(7, agents));
  }
});

test("a cancelled request and an error reach the agent as they are", async () => {
  for (const response of [
    { jsonrpc: "2.0", id: 7, result: { outcome: { outcome: "cancelled" } } },
    { jsonrpc: "2.0", id: 7, error: { code: -32601, message: "Unknown method" } },
  ]) {
    const replies: unknown[] = [];
    const { amended, answered } = prepare({ useAnswered: (_key, _ticket, reply) => void replies.push(reply) });
    await amended();
    expect(await answered(response)).toEqual(response);
    expect(replies).toEqual([expect.not.objectContaining({ answer: expect.anything() as unknown })]);
  }
});

test("only the first response counts, for the request that it answers", async () => {
  const { amended, answered } = prepare({});
  const first = await amended({}, 7);
  const second = await amended({}, "7");
  const [, trust, notNow] = first.params.options.map(({ optionId }) => optionId);
  expect(second.params.options.map(({ optionId }) => optionId)).toContain(trust);
  expect(await answered(selected("7", notNow))).toEqual(selected("7", "no"));
  expect(await answered(selected("7", trust))).toBeUndefined();
  expect(await answered(selected(7, trust))).toEqual(selected(7, "yes"));
  expect(await answered(selected(7, trust))).toBeUndefined();
});

test("without a way to reject, the request is cancelled", async () => {
  const { amended, answered } = prepare({});
  const { params } = await amended({ options: offered.slice(0, 2) });
  expect(await answered(selected(7, params.options[2]?.optionId))).toMatchObject({
    result: { outcome: { outcome: "cancelled" } },
  });
});

test("an answer that cannot be stored in time allows nothing", async () => {
  const { amended, answered, clock } = prepare({ useAnswered: () => new Promise(() => undefined) });
  const { params } = await amended();
  const answer = answered(selected(7, params.options[0]?.optionId));
  clock.pass(5_000);
  expect(await answer).toEqual(selected(7, "no"));
});

test("answers an approved use for the user, once, and tells the editor", async () => {
  const { look, replies, notified, told } = prepare({ decideUse: () => allows });
  expect(await look()).toEqual({ forward: false });
  expect(replies).toEqual([selected(7, "yes")]);
  expect(told).toEqual([[1, 4]]);
  const allowed = { ...skill, tool: "Bash(git:*)" };
  expect(notified).toMatchObject([
    { params: { sessionId: "s", update: { toolCallId: "call_1", _meta: { "acp-skills": { allowed } } } } },
  ]);
});

test("forwards the request when the decision takes too long, whatever it is then", async () => {
  const decided = createDeferred<UseDecision>();
  const { look, replies, clock, requests } = prepare({ decideUse: () => decided.promise });
  const verdict = look();
  clock.pass(1_000);
  expect(await verdict).toEqual(untouched);
  decided.resolve(allows);
  await decided.promise;
  expect(replies).toEqual([]);
  expect(requests.isEmpty).toBe(true);
});

test.each<[string, object]>([
  ["two ways to allow once", { options: [...offered, { optionId: "x", kind: "allow_once", name: "X" }] }],
  ["no way to allow once", { options: offered.slice(1) }],
  ["an option without an id", { options: [{ kind: "allow_once", name: "Yes" }] }],
  ["no options", { options: undefined }],
  ["refusing first, as an agent lists what it advises against", { options: [...offered].reverse() }],
  ["a contradictory call", { toolCall: { ...bare, title: "ls" } }],
  ["no call", { toolCall: undefined }],
  ["another subject", { toolCall: undefined, subject: { type: "plan" } }],
])("a request with %s is forwarded, and the service is not asked", (_what, params) => {
  const { look } = prepare({
    decideUse: () => {
      throw new Error("asked");
    },
  });
  expect(look(params)).toEqual(untouched);
});

test("an id that would not survive, and the option to approve nothing, leave requests alone", () => {
  expect(prepare({ decideUse: () => allows }).look({}, 2 ** 60)).toEqual(untouched);
  expect(prepare({ decideUse: () => allows }, false).look()).toEqual(untouched);
});
