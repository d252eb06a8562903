import * as stable from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import * as old from "@zed-industries/agent-client-protocol";
import { expect, expectTypeOf, test } from "vitest";
import { interceptStream } from "../../../src/acp/relay/intercept-stream.ts";
import { openLocalService } from "../../../src/acp/service/local-service.ts";
import { optIn } from "../../../src/client/initialize.ts";
import { createSkillsStore, type SkillsHandlers } from "../../../src/client/store/skills-store.ts";
import { readOptions } from "../../../src/runtime/options.ts";
import { memorySkillset, offer } from "../../acp/memory-skillset.ts";
import { streamPair } from "../../acp/stream-pair.ts";
import { manualClock } from "../../manual-clock.ts";

/** The handlers of an editor that has no other use for updates. */
const unused: SkillsHandlers = {
  sessionUpdate: () => Promise.resolve(),
  extNotification: () => Promise.resolve(),
};
/** Params are taken as they come. */
const asTheyCome = { parse: (params: unknown) => params as object };
const notification = "_acp-skills/skills_update";

/** A real client of each generation: initializes, opens a session, returns the initialize response and how to close the session. */
type Open = (stream: stable.Stream, handlers: SkillsHandlers) => Promise<{ response: unknown; close: () => unknown }>;

const generations: Record<string, { readonly protocol: 1 | 2; readonly open: Open }> = {
  "0.4.5": {
    protocol: 1,
    async open(stream, handlers) {
      const requestPermission = () => Promise.resolve({ outcome: { outcome: "cancelled" } } as const);
      const editor = new old.ClientSideConnection(() => ({ requestPermission, ...handlers }), stream as never);
      const response = await editor.initialize({ protocolVersion: 1, clientCapabilities: optIn() });
      await editor.newSession({ cwd: "/p", mcpServers: [] });
      return { response, close: () => undefined };
    },
  },
  "2.4 v1": {
    protocol: 1,
    async open(stream, handlers) {
      const { agent } = stable
        .client({ name: "editor" })
        .onNotification("session/update", ({ params }) => handlers.sessionUpdate(params))
        .onNotification(notification, asTheyCome, ({ params }) => handlers.extNotification(notification, params))
        .connect(stream);
      const response = await agent.request("initialize", { protocolVersion: 1, clientCapabilities: optIn() });
      await agent.request("session/new", { cwd: "/p", mcpServers: [] });
      return { response, close: () => agent.request("session/close", { sessionId: "s" }) };
    },
  },
  "2.4 v2": {
    protocol: 2,
    async open(stream, handlers) {
      const { agent } = v2
        .client({ name: "editor" })
        .onNotification("session/update", ({ params }) => handlers.sessionUpdate(params))
        .onNotification(notification, asTheyCome, ({ params }) => handlers.extNotification(notification, params))
        .connect(stream);
      const info = { name: "editor", version: "1" };
      const response = await agent.request("initialize", { protocolVersion: 2, info, capabilities: optIn() });
      await agent.request("session/new", { cwd: "/p", mcpServers: [] });
      return { response, close: () => agent.request("session/close", { sessionId: "s" }) };
    },
  },
};

/** An agent of raw messages that answers what an editor requests. */
async function serve(stream: stable.Stream, protocol: 1 | 2): Promise<void> {
  const writer = stream.writable.getWriter();
  const results: Record<string, object> = {
    initialize:
      protocol === 2
        ? { protocolVersion: 2, info: { name: "agent", version: "1" }, capabilities: { session: {} } }
        : { protocolVersion: 1, agentCapabilities: {} },
    "session/new": { sessionId: "s" },
    "session/close": {},
  };
  for await (const message of stream.readable)
    if ("method" in message && "id" in message)
      await writer.write({ jsonrpc: "2.0", id: message.id, result: results[message.method] });
}

function openAgent(protocol: 1 | 2) {
  const [editorSide, agentSide] = streamPair();
  const skillset = memorySkillset([offer("pdf", { license: "MIT" })]);
  const clock = manualClock();
  const settings = readOptions({ announce: "auto" }, { clock });
  void serve(interceptStream(agentSide, openLocalService(settings, { skillset }), settings), protocol);
  const settle = async () => {
    clock.pass(50);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  };
  return { editorSide, skillset, settle };
}

const facts = ({ skills }: { skills: readonly { name: string; form: string; command?: string | undefined }[] }) =>
  skills.map(({ name, form, command }) => `${name} ${form} ${command}`);

test.each(Object.keys(generations))("reads along on a connection of SDK %s", async (name) => {
  const { protocol, open } = generations[name]!;
  const { editorSide, skillset, settle } = openAgent(protocol);
  const store = createSkillsStore();
  const { close } = await open(store.connect(editorSide, name), unused);
  await settle();
  expect(facts(store)).toEqual([`pdf ${notification} pdf`]);
  expect(store.capabilities).toMatchObject([{ agent: name, protocolVersion: protocol }]);
  expect(store.capabilities[0]?.advertisement?.update).toContain(notification);
  skillset.set([offer("pdf", { license: "MIT" }), offer("csv")]);
  await settle();
  expect(facts(store)).toEqual([`pdf ${notification} pdf`, `csv ${notification} csv`]);
  expect(store.problems).toEqual([]);
  await close();
  expect(store.sessions).toHaveLength(name === "0.4.5" ? 1 : 0);
});

test.each(Object.keys(generations))("is fed by the handlers of SDK %s", async (name) => {
  const { protocol, open } = generations[name]!;
  const { editorSide, skillset, settle } = openAgent(protocol);
  const store = createSkillsStore();
  const { response } = await open(editorSide, store.handlers());
  store.initialized(response);
  await settle();
  skillset.set([offer("csv")]);
  await settle();
  expect(facts(store).at(-1)).toContain("csv");
  expect(store.capabilities).toMatchObject([{ protocolVersion: protocol }]);
  store.release("s");
  expect(store.skills).toEqual([]);
});

test("forgets the skills when the agent's stream ends or fails, and not those of the next connection", async () => {
  const store = createSkillsStore();
  const skills = { sessionUpdate: "available_skills_update", availableSkills: [{ name: "pdf", description: "x" }] };
  const message = { method: "session/update", params: { sessionId: "s", update: skills } };
  for (const end of ["close", "error"] as const) {
    let controller!: ReadableStreamDefaultController<unknown>;
    const readable = new ReadableStream<unknown>({ start: (given) => void (controller = given) });
    const reader = store.connect({ readable, writable: new WritableStream() }).readable.getReader();
    const next = reader.read();
    controller.enqueue(message);
    controller.enqueue({ method: "other" });
    expect(await next).toEqual({ done: false, value: { method: "other" } });
    expect(store.skills).toHaveLength(1);
    const last = reader.read().catch((error: unknown) => error);
    controller[end](new Error("gone"));
    await last;
    expect(store.skills).toEqual([]);
  }
});

test("has the types that the SDKs want", () => {
  const store = createSkillsStore();
  expectTypeOf(store.connect<stable.AnyMessage>).returns.toExtend<stable.Stream>();
  expectTypeOf(store.handlers()).toExtend<Pick<old.Client, "sessionUpdate" | "extNotification">>();
  expectTypeOf(optIn()).toExtend<v2.ClientCapabilities>();
  expectTypeOf(optIn()).toExtend<old.ClientCapabilities>();
});
