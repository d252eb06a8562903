import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { interceptStream } from "../../../src/acp/relay/intercept-stream.ts";
import { openLocalService } from "../../../src/acp/service/local-service.ts";
import { readOptions } from "../../../src/runtime/options.ts";
import { manualClock } from "../../manual-clock.ts";
import { fakeTools } from "../fake-tools.ts";
import { memorySkillset, offer } from "../memory-skillset.ts";
import { streamPair } from "../stream-pair.ts";

interface Ends {
  readonly editor: Stream;
  readonly agent: Stream;
  readonly skillset: ReturnType<typeof memorySkillset>;
  readonly clock: ReturnType<typeof manualClock>;
}

function mount(): Ends {
  const [editor, inner] = streamPair();
  const skillset = memorySkillset([offer("pdf")]);
  const clock = manualClock();
  const settings = readOptions({ tools: "none" }, { clock });
  const agent = interceptStream(inner, openLocalService(settings, { skillset }), settings);
  return { editor, agent, skillset, clock };
}

const message = (fields: object): AnyMessage => ({ jsonrpc: "2.0", ...fields }) as AnyMessage;

/** Writes messages to one end and returns what arrives at the other. */
async function carry(from: Stream, to: Stream, ...messages: AnyMessage[]): Promise<AnyMessage[]> {
  const writer = from.writable.getWriter();
  const reader = to.readable.getReader();
  const read: AnyMessage[] = [];
  for (const one of messages) {
    const [, { value }] = await Promise.all([writer.write(one), reader.read()]);
    if (value !== undefined) read.push(value);
  }
  writer.releaseLock();
  reader.releaseLock();
  return read;
}

async function openSession({ editor, agent }: Pick<Ends, "editor" | "agent">): Promise<void> {
  await carry(editor, agent, message({ id: 0, method: "initialize", params: { protocolVersion: 1 } }));
  await carry(agent, editor, message({ id: 0, result: { protocolVersion: 1 } }));
  await carry(editor, agent, message({ id: 1, method: "session/new", params: { cwd: "/p" } }));
  await carry(agent, editor, message({ id: 1, result: { sessionId: "s" } }));
}

test("forwards unrelated messages as the same objects", async () => {
  const { editor, agent } = mount();
  const odd = [message({ method: "_x" }), [1, 2] as unknown as AnyMessage, 7 as unknown as AnyMessage];
  expect((await carry(editor, agent, ...odd)).every((one, index) => one === odd[index])).toBe(true);
  expect((await carry(agent, editor, ...odd)).every((one, index) => one === odd[index])).toBe(true);
});

test("sends skills after the session's response and releases them when the editor closes", async () => {
  const ends = mount();
  await openSession(ends);
  const reader = ends.editor.readable.getReader();
  const next = reader.read();
  ends.clock.pass(50);
  expect((await next).value).toMatchObject({ params: { update: { availableCommands: [{ name: "pdf" }] } } });
  expect(ends.skillset.openCount()).toBe(1);
  await ends.editor.writable.close();
  expect((await ends.agent.readable.getReader().read()).done).toBe(true);
  await new Promise(setImmediate);
  expect(ends.skillset.openCount()).toBe(0);
});

test("closes the editor's stream and releases sessions when the agent closes", async () => {
  const ends = mount();
  await openSession(ends);
  await ends.agent.writable.close();
  expect((await ends.editor.readable.getReader().read()).done).toBe(true);
  await new Promise(setImmediate);
  expect(ends.skillset.openCount()).toBe(0);
});

test("propagates an abort in both directions", async () => {
  const one = mount();
  await one.editor.writable.abort(new Error("editor gone"));
  await expect(one.agent.readable.getReader().read()).rejects.toThrow("editor gone");
  const other = mount();
  await other.agent.writable.abort(new Error("agent gone"));
  await expect(other.editor.readable.getReader().read()).rejects.toThrow("agent gone");
});

test("errors the editor's stream and releases sessions when the agent cancels its readable", async () => {
  const ends = mount();
  await openSession(ends);
  await ends.agent.readable.cancel(new Error("enough"));
  const writer = ends.editor.writable.getWriter();
  await expect(writer.closed).rejects.toThrow("enough");
  await new Promise(setImmediate);
  expect(ends.skillset.openCount()).toBe(0);
});

test("applies backpressure to an agent that writes faster than the editor reads", async () => {
  const { agent } = mount();
  const writer = agent.writable.getWriter();
  let written = 0;
  for (let count = 0; count < 100; count++)
    void writer.write(message({ method: "_x", params: { count } })).then(() => (written += 1));
  await new Promise(setImmediate);
  expect(written).toBeLessThan(10);
  expect(writer.desiredSize).toBeLessThan(0);
});

test("ignores a change of skills after the stream was closed", async () => {
  const ends = mount();
  await openSession(ends);
  await ends.agent.writable.close();
  ends.skillset.set([]);
  ends.clock.pass(50);
  expect((await ends.editor.readable.getReader().read()).done).toBe(true);
});

test("answers a call of our tools and a permission request without forwarding them", async () => {
  const [editor, inner] = streamPair();
  const settings = readOptions({}, { clock: manualClock() });
  const service = openLocalService(settings, { skillset: memorySkillset([offer("pdf")]), tools: fakeTools() });
  const agent = interceptStream(inner, service, settings);
  await openSession({ editor, agent });
  // Real editors and agents always have a pending read.
  const [atEditor, atAgent] = [editor.readable.getReader().read(), agent.readable.getReader().read()];
  void editor.writable.getWriter().write(message({ id: 8, method: "_acp-skills/list_skills" }));
  expect((await atEditor).value).toEqual({ jsonrpc: "2.0", id: 8, result: { name: "list_skills" } });
  const options = [{ optionId: "o", kind: "allow_once", name: "Yes" }];
  const params = { sessionId: "s", toolCall: { toolCallId: "1", name: "mcp__skills__list_skills" }, options };
  void agent.writable.getWriter().write(message({ id: 9, method: "session/request_permission", params }));
  expect((await atAgent).value).toEqual({
    jsonrpc: "2.0",
    id: 9,
    result: { outcome: { outcome: "selected", optionId: "o" } },
  });
});
