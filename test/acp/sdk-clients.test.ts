import * as stable from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import * as unstable from "@agentclientprotocol/sdk/unstable";
import * as old from "@zed-industries/agent-client-protocol";
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from "vitest";
import { openLocalService } from "../../src/acp/service/local-service.ts";
import { interceptStream } from "../../src/acp/relay/intercept-stream.ts";
import { type AnnouncedForm, readOptions } from "../../src/runtime/options.ts";
import { optIn } from "../../src/client/initialize.ts";
import { readSkillsUpdate } from "../../src/client/skills-update.ts";
import { toAvailableSkill } from "../../src/wire/command-facts.ts";
import type { Problem } from "../../src/skills/rules/problem.ts";
import { manualClock } from "../manual-clock.ts";
import { memorySkillset, offer } from "./memory-skillset.ts";
import { streamPair } from "./stream-pair.ts";

interface Params {
  readonly update: { readonly sessionUpdate: string; readonly [field: string]: unknown };
  readonly _meta?: unknown;
}

/** The common interface of the real clients. */
interface Editor {
  readonly open: () => Promise<void>;
  readonly prompt: () => Promise<unknown>;
}

/** A client's `_meta`, if it has one. */
type Meta = Readonly<Record<string, unknown>>;
type OpenEditor = (stream: stable.Stream, _meta: Meta | undefined, received: (params: Params) => void) => Editor;

const skillsMeta = { "acp-skills": { commands: true } };
const skillsUpdate = "_acp-skills/skills_update";
/** Params are taken as they come. */
const asTheyCome = { parse: (params: unknown) => params as Params };
const words = { type: "text", text: "hello" } as const;

/** The two entry points have different types for the same client. */
function appOf({ client }: Pick<typeof stable, "client">): OpenEditor {
  return (stream, _meta, received) => {
    const { agent } = client({ name: "editor" })
      .onNotification("session/update", ({ params }) => {
        received(params);
      })
      .onNotification(skillsUpdate, asTheyCome, ({ params }) => {
        received(params);
      })
      .connect(stream);
    return {
      async open() {
        const clientCapabilities = _meta === undefined ? {} : { _meta };
        await agent.request("initialize", { protocolVersion: 1, clientCapabilities });
        await agent.request("session/new", { cwd: "/p", mcpServers: [] });
      },
      prompt: () => agent.request("session/prompt", { sessionId: "s", prompt: [words] }),
    };
  };
}

const openV2: OpenEditor = (stream, _meta, received) => {
  const { agent } = v2
    .client({ name: "editor" })
    .onNotification("session/update", ({ params }) => {
      received(params);
    })
    .onNotification(skillsUpdate, asTheyCome, ({ params }) => {
      received(params);
    })
    .connect(stream);
  return {
    async open() {
      const capabilities = _meta === undefined ? {} : { _meta };
      await agent.request("initialize", { protocolVersion: 2, info: { name: "editor", version: "1" }, capabilities });
      await agent.request("session/new", { cwd: "/p", mcpServers: [] });
    },
    prompt: () => agent.request("session/prompt", { sessionId: "s", prompt: [words] }),
  };
};

const openOld: OpenEditor = (stream, _meta, received) => {
  const editor = new old.ClientSideConnection(
    () => ({
      sessionUpdate(params) {
        received(params);
        return Promise.resolve();
      },
      extNotification(method, params) {
        // This version of the SDK strips the underscore.
        if (`_${method}` === skillsUpdate) received(params as unknown as Params);
        return Promise.resolve();
      },
      requestPermission: () => Promise.resolve({ outcome: { outcome: "cancelled" } }),
    }),
    stream as never,
  );
  return {
    async open() {
      const clientCapabilities = _meta === undefined ? {} : { _meta };
      await editor.initialize({ protocolVersion: 1, clientCapabilities });
      await editor.newSession({ cwd: "/p", mcpServers: [] });
    },
    prompt: () => editor.prompt({ sessionId: "s", prompt: [words] }),
  };
};

const editors = {
  "2.4": { open: appOf(stable), protocol: 1, delivers: [] },
  "2.4 unstable": { open: appOf(unstable as unknown as typeof stable), protocol: 1, delivers: [] },
  "2.4 v2": { open: openV2, protocol: 2, delivers: ["available_skills_update"] },
  "0.4.5": { open: openOld, protocol: 1, delivers: [] },
} as const;

/** An agent of raw messages for one version of the protocol that sends one list of commands. */
async function serve(stream: stable.Stream, protocol: 1 | 2): Promise<void> {
  const writer = stream.writable.getWriter();
  const send = (message: object): Promise<void> => writer.write({ jsonrpc: "2.0", ...message } as stable.AnyMessage);
  const type = protocol === 2 ? { type: "command" } : {};
  const v2Initialized = { protocolVersion: 2, info: { name: "agent", version: "1" }, capabilities: { session: {} } };
  for await (const message of stream.readable) {
    if (!("method" in message) || !("id" in message)) continue;
    const { id } = message;
    if (message.method === "initialize")
      await send({ id, result: protocol === 2 ? v2Initialized : { protocolVersion: 1, agentCapabilities: {} } });
    if (message.method === "session/new") await send({ id, result: { sessionId: "s" } });
    if (message.method === "session/prompt") {
      const availableCommands = [{ ...type, name: "init", description: "The agent's own." }];
      const update = { sessionUpdate: "available_commands_update", availableCommands };
      await send({ method: "session/update", params: { sessionId: "s", update } });
      await send({ id, result: protocol === 2 ? { messageId: "m" } : { stopReason: "end_turn" } });
    }
  }
}

let errors: MockInstance<typeof console.error>;
beforeEach(() => {
  errors = vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  errors.mockRestore();
});

const problem: Problem = {
  ...{ code: "name-missing", severity: "warning", file: "/a", line: 1, column: 1, message: "m", fix: "f" },
};

/** Opens a session, waits for its skills, changes them and runs a turn; returns all updates that the client delivered. */
async function talk(name: keyof typeof editors, _meta: Meta | undefined, announce: AnnouncedForm): Promise<Params[]> {
  const { open, protocol } = editors[name];
  const [editorSide, agentSide] = streamPair();
  const skillset = memorySkillset([offer("pdf", { license: "MIT" })]);
  const clock = manualClock();
  const settings = readOptions({ announce }, { clock });
  void serve(interceptStream(agentSide, openLocalService(settings, { skillset }), settings), protocol);
  const received: Params[] = [];
  const editor = open(editorSide, _meta, (params) => received.push(params));
  await editor.open();
  clock.pass(50);
  await new Promise(setImmediate);
  skillset.set([offer("pdf", { license: "MIT" }), offer("csv")], [problem]);
  await editor.prompt();
  await new Promise(setImmediate);
  return received;
}

const names = ({ update }: Params): string[] =>
  ((update["availableCommands"] ?? []) as { name: string }[]).map(({ name }) => name);
const kinds = (received: Params[]): Set<string> => new Set(received.map(({ update }) => update.sessionUpdate));

const cases = (Object.keys(editors) as (keyof typeof editors)[]).flatMap((name) =>
  [false, true].flatMap((optsIn) =>
    (["auto", "rfd", "commands", "none"] as const).map((announce) => ({ name, optsIn, announce })),
  ),
);

test.each(cases)(
  "delivers every supported form to a client of $name: opt-in $optsIn, announce $announce",
  async ({ name, optsIn, announce }) => {
    const received = await talk(name, optsIn ? skillsMeta : undefined, announce);
    const { delivers } = editors[name];
    const bare = "available_skills_update";
    const isSent = announce === "rfd" || (announce === "auto" && optsIn);
    const isDelivered = (delivers as readonly string[]).includes(bare);

    expect(kinds(received)).toEqual(new Set([...(isSent && isDelivered ? [bare] : []), "available_commands_update"]));
    // A client logs an error for each update of an unknown kind and continues.
    expect(errors.mock.calls.length > 0).toBe(isSent && !isDelivered);
    const last = received.findLast(({ update }) => update.sessionUpdate === "available_commands_update");
    expect(last && names(last)).toEqual(
      announce === "auto" || announce === "commands" ? ["init", "pdf", "csv"] : ["init"],
    );
  },
);

test.each(Object.keys(editors) as (keyof typeof editors)[])(
  "lets a client of %s read the list of skills from the commands",
  async (name) => {
    const [first] = await talk(name, skillsMeta, "commands");
    const found = readSkillsUpdate(first && { sessionId: "s", ...first });
    expect(found?.skills).toEqual([toAvailableSkill(offer("pdf", { license: "MIT" }))]);
  },
);

test.each(Object.keys(editors) as (keyof typeof editors)[])(
  "delivers skills to a client of %s that opts in as documented, without errors",
  async (name) => {
    const received = await talk(name, optIn({ deltas: false })._meta, "auto");
    const lists = received.filter(({ update }) => update.sessionUpdate === "available_skills_update");
    expect(lists.map(({ update }) => update["availableSkills"])).toMatchObject([
      [{ name: "pdf" }],
      [{ name: "pdf" }, { name: "csv" }],
    ]);
    expect(errors.mock.calls).toEqual([]);
  },
);
