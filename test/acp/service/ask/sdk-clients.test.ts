import * as stable from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import * as unstable from "@agentclientprotocol/sdk/unstable";
import * as old from "@zed-industries/agent-client-protocol";
import { expect, test, vi } from "vitest";
import { interceptStream } from "../../../../src/acp/relay/intercept-stream.ts";
import { openLocalService } from "../../../../src/acp/service/local-service.ts";
import { readOptions } from "../../../../src/runtime/options.ts";
import type { Question, Reply } from "../../../../src/runtime/question.ts";
import { manualClock } from "../../../manual-clock.ts";
import { fakeTools } from "../../fake-tools.ts";
import { memorySkillset, offer } from "../../memory-skillset.ts";
import { streamPair } from "../../stream-pair.ts";
import { changedQuestion, projectQuestion, question, settled } from "./questions.ts";

interface Options {
  readonly options: readonly { readonly optionId: string; readonly kind: string }[];
}
type Choose = (params: Options) => string;
type Update = { readonly sessionUpdate: string; readonly status?: string | null };

/** An editor on a client of an SDK; resolves when its session is open. */
type OpenEditor = (stream: stable.Stream, choose: Choose, received: (update: Update) => void) => Promise<unknown>;

const selected = (optionId: string) => ({ outcome: { outcome: "selected" as const, optionId } });

function appOf({ client }: Pick<typeof stable, "client">): OpenEditor {
  return async (stream, choose, received) => {
    const { agent } = client({ name: "editor" })
      .onNotification("session/update", ({ params }) => {
        received(params.update);
      })
      .onRequest("session/request_permission", ({ params }) => selected(choose(params)))
      .connect(stream);
    await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    await agent.request("session/new", { cwd: "/p", mcpServers: [] });
  };
}

const openV2: OpenEditor = async (stream, choose, received) => {
  const { agent } = v2
    .client({ name: "editor" })
    .onNotification("session/update", ({ params }) => {
      received(params.update);
    })
    .onRequest("session/request_permission", ({ params }) => selected(choose(params)))
    .connect(stream);
  const info = { name: "editor", version: "1" };
  await agent.request("initialize", { protocolVersion: 2, info, capabilities: {} });
  await agent.request("session/new", { cwd: "/p", mcpServers: [] });
};

const openOld: OpenEditor = async (stream, choose, received) => {
  const editor = new old.ClientSideConnection(
    () => ({
      sessionUpdate({ update }) {
        received(update);
        return Promise.resolve();
      },
      requestPermission: (params) => Promise.resolve(selected(choose(params))),
    }),
    stream as never,
  );
  await editor.initialize({ protocolVersion: 1, clientCapabilities: {} });
  await editor.newSession({ cwd: "/p", mcpServers: [] });
};

const editors = {
  "2.4": { open: appOf(stable), protocol: 1 },
  "2.4 unstable": { open: appOf(unstable as unknown as typeof stable), protocol: 1 },
  "2.4 v2": { open: openV2, protocol: 2 },
  "0.4.5": { open: openOld, protocol: 1 },
} as const;

/** An agent of raw messages for one version of the protocol. */
async function serve(stream: stable.Stream, protocol: 1 | 2): Promise<void> {
  const writer = stream.writable.getWriter();
  const v2Initialized = {
    protocolVersion: 2,
    info: { name: "agent", version: "1" },
    capabilities: { session: { mcp: { stdio: {} } } },
  };
  for await (const message of stream.readable) {
    if (!("method" in message) || !("id" in message)) throw new Error(`The agent got ${JSON.stringify(message)}.`);
    const { id, method } = message;
    const result =
      method === "session/new"
        ? { sessionId: "s" }
        : protocol === 2
          ? v2Initialized
          : { protocolVersion: 1, agentCapabilities: {} };
    await writer.write({ jsonrpc: "2.0", id, result });
  }
}

const questions = { "a first version": question, "a changed version": changedQuestion, "a project": projectQuestion };
const cases = (Object.keys(editors) as (keyof typeof editors)[]).flatMap((name) =>
  (Object.keys(questions) as (keyof typeof questions)[]).map((about) => ({ name, about })),
);

test.each(cases)("asks the user of a client of $name about $about", async ({ name, about }) => {
  const errors = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const { open, protocol } = editors[name];
  const [editorSide, agentSide] = streamPair();
  const clock = manualClock();
  const settings = readOptions({ announce: "none" }, { clock });
  const tools = fakeTools();
  const service = openLocalService(settings, { skillset: memorySkillset([offer("pdf")]), tools });
  const agent = serve(interceptStream(agentSide, service, settings), protocol);
  const updates: Update[] = [];
  const choices: string[][] = [];
  await open(
    editorSide,
    ({ options }) => {
      choices.push(options.map(({ kind }) => kind));
      clock.pass(400);
      return options.find(({ kind }) => kind === "allow_always")?.optionId ?? "";
    },
    (update) => updates.push(update),
  );
  const asked: Question = questions[about];
  const reply: Reply = await tools.servers[0]!.askIn("s")(asked, new AbortController().signal);
  await settled();
  expect(reply).toEqual({ answer: "trust" });
  expect(choices).toEqual([asked.options.map(({ kind }) => kind)]);
  expect(updates.map(({ sessionUpdate, status }) => [sessionUpdate, status])).toEqual([
    [protocol === 2 ? "tool_call_update" : "tool_call", "pending"],
    ["tool_call_update", "completed"],
  ]);
  expect(errors.mock.calls).toEqual([]);
  errors.mockRestore();
  void agent;
});
