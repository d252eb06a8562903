import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { Interceptor } from "../../src/acp/relay/interceptor.ts";
import { openRemoteService } from "../../src/acp/remote-service.ts";
import type { FromService, ServiceOutlet, SkillService, ToService } from "../../src/acp/skill-service.ts";
import { type Settings, readOptions, toSettingsData } from "../../src/runtime/options.ts";
import { type OpenChannel, sameThreadChannel, workerChannel } from "../../src/base/processes/threads.ts";
import { manualClock } from "../manual-clock.ts";

interface Sent {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly update?: { readonly availableCommands?: readonly { readonly name: string }[] } };
  readonly result?: { readonly skills?: readonly { readonly name: string }[] };
}

function temporaryProject(): { project: string; settings: Settings; logged: string[] } {
  const project = mkdtempSync(path.join(tmpdir(), "acp-skills-service-"));
  onTestFinished(() => {
    rmSync(project, { recursive: true, force: true });
  });
  write(project, "pdf");
  const logged: string[] = [];
  const log = (level: string, message: string): void => void logged.push(`${level}: ${message}`);
  const options = { dataDirectory: path.join(project, "data"), log };
  const settings = readOptions(options, { home: path.join(project, "home") });
  return { project, settings, logged };
}

function write(project: string, name: string): void {
  const directory = path.join(project, ".agents/skills", name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, "SKILL.md"), `---\nname: ${name}\ndescription: Does ${name}.\n---\nDo ${name}.\n`);
}

const channels: Record<string, (settings: Settings) => OpenChannel<FromService>> = {
  "a worker thread": (settings) =>
    workerChannel(new URL("../../dist/acp/service/worker.js", import.meta.url), toSettingsData(settings)),
  "the same thread": (settings) =>
    sameThreadChannel(async (port) => {
      const { servePort } = await import("../../src/acp/service/serve-port.ts");
      servePort(port, settings);
    }),
};

test.each(Object.keys(channels))(
  "serves skills, edits, tool calls and invocations on %s",
  async (name) => {
    const { project, settings, logged } = temporaryProject();
    const service = openRemoteService(settings, channels[name]?.(settings) ?? fail());
    const sent: Sent[] = [];
    const interceptor = new Interceptor({
      service,
      settings,
      send(line, written) {
        sent.push(JSON.parse(Buffer.from(line).toString()) as Sent);
        written();
      },
      reply: () => undefined,
    });
    const exchange = async (id: number, method: string, params: object, result: object): Promise<unknown> => {
      const verdict = await interceptor.fromEditor({ id, method, params });
      await interceptor.fromAgent({ id, result });
      return verdict;
    };
    const commands = (): unknown =>
      sent
        .findLast(({ params }) => params?.update?.availableCommands)
        ?.params?.update?.availableCommands?.map((command) => command.name);
    await exchange(1, "initialize", { protocolVersion: 1 }, { protocolVersion: 1, agentCapabilities: {} });
    const opened = await exchange(2, "session/new", { cwd: project, mcpServers: [] }, { sessionId: "s" });
    expect(opened).toMatchObject({ amendments: [{ insert: [{ name: "skills", command: process.execPath }] }] });
    await vi.waitFor(() => {
      expect(commands()).toEqual(["pdf"]);
    }, 10_000);
    write(project, "zip");
    await vi.waitFor(() => {
      expect(commands()).toEqual(["pdf", "zip"]);
    }, 10_000);
    await interceptor.fromEditor({ id: 3, method: "_acp-skills/list_skills", params: {} });
    await vi.waitFor(() => {
      expect(sent.find(({ id }) => id === 3)?.result?.skills).toHaveLength(3);
    }, 10_000);
    const prompt = [{ type: "text", text: "/pdf now" }];
    const verdict = await interceptor.fromEditor({
      id: 4,
      method: "session/prompt",
      params: { sessionId: "s", prompt },
    });
    expect(JSON.stringify(verdict)).toContain("Do pdf.");
    interceptor.close();
    await service.close();
    expect(logged.filter((line) => !line.startsWith("info"))).toEqual([]);
  },
  30_000,
);

test("delays messages that need a busy service only until the timeout, and no others", async () => {
  const clock = manualClock();
  const settings = readOptions({}, { clock });
  const service = openRemoteService(
    settings,
    workerChannel(new URL("../base/processes/busy-worker.js", import.meta.url), undefined),
  );
  const { interceptor } = await openSession(service, settings, clock);
  const chunk = {
    method: "session/update",
    params: { sessionId: "s", update: { sessionUpdate: "agent_message_chunk" } },
  };
  expect(interceptor.fromAgent(chunk)).toEqual({ forward: true });
  const text = (words: string): object => ({ sessionId: "s", prompt: [{ type: "text", text: words }] });
  const call = interceptor.fromEditor({ id: 9, method: "session/prompt", params: text("/pdf now") });
  expect(call).toBeInstanceOf(Promise);
  clock.pass(5_000);
  expect(await call).toEqual({ forward: true });
  expect(interceptor.fromEditor({ id: 10, method: "session/prompt", params: text("hello") })).toEqual({
    forward: true,
  });
  expect(interceptor.fromEditor({ method: "session/cancel", params: { sessionId: "s" } })).toEqual({ forward: true });
  const closing = service.close();
  clock.pass(5_000);
  await closing;
});

test("logs a crash of the thread once, keeps forwarding, and starts another for the next session", async () => {
  const clock = manualClock();
  const logged: string[] = [];
  const settings = readOptions({ log: (level: string, text: string) => logged.push(`${level}: ${text}`) }, { clock });
  let started = 0;
  const open = workerChannel<FromService>(new URL("../base/processes/dying-worker.js", import.meta.url), undefined);
  const service = openRemoteService(settings, (received, ended) => {
    started++;
    return open(received, ended);
  });
  const { interceptor, sent } = await openSession(service, settings, clock);
  await vi.waitFor(() => {
    expect(logged.filter((line) => line.includes("a fault in the thread"))).toHaveLength(1);
  }, 10_000);
  expect(logged[0]).toMatch(/^error: Skills and tools stopped in the open sessions; messages are still forwarded\./);
  const prompt = { sessionId: "s", prompt: [{ type: "text", text: "/pdf" }] };
  expect(await interceptor.fromEditor({ id: 7, method: "session/prompt", params: prompt })).toEqual({ forward: true });
  expect(started).toBe(1);
  await interceptor.fromEditor({ id: 70, method: "_acp-skills/list_skills", params: {} });
  await vi.waitFor(() => {
    expect(sent).toMatchObject([{ id: 70, error: { code: -32000, data: { code: "RUNTIME_BUSY" } } }]);
  }, 10_000);
  await interceptor.fromEditor({ id: 8, method: "session/new", params: { cwd: "/p" } });
  expect(started).toBe(3);
  const closing = service.close();
  clock.pass(5_000);
  await closing;
});

test("transfers the buffer of a long line back only after the line was written", () => {
  const { settings } = temporaryProject();
  const posted: { message: ToService; transferred: ArrayBuffer[] }[] = [];
  let receive: (message: FromService) => void = () => undefined;
  const service = openRemoteService(settings, (received) => {
    receive = received;
    const ignore = (): void => undefined;
    const postMessage = (message: unknown, transferred: unknown): void => {
      posted.push({ message: message as ToService, transferred: transferred as ArrayBuffer[] });
    };
    return { port: { postMessage, ref: ignore, unref: ignore }, end: ignore };
  });
  const waiting: (() => void)[] = [];
  const ignore = (): void => undefined;
  service.connect({
    send: (_line, written) => waiting.push(written),
    request: ignore,
    withdraw: ignore,
    answered: ignore,
    ended: ignore,
    index: ignore,
    blob: ignore,
    log: ignore,
  });
  const [long, short] = [new Uint8Array(100_000), new Uint8Array(100)];
  for (const [line, bytes] of [long, short].entries()) receive({ kind: "line", connection: 1, line, bytes });
  expect(posted).toMatchObject([{ message: { kind: "connect" } }]);
  for (const written of waiting) written();
  expect(posted.slice(1)).toEqual([
    { message: { kind: "written", line: 0, spent: long }, transferred: [long.buffer] },
    { message: { kind: "written", line: 1 }, transferred: [] },
  ]);
});

interface Lines {
  readonly sent: unknown[];
  readonly endings: string[];
  readonly outlet: ServiceOutlet;
}

function keepLines(): Lines {
  const sent: unknown[] = [];
  const endings: string[] = [];
  const outlet: ServiceOutlet = {
    send(line, written) {
      sent.push(JSON.parse(Buffer.from(line).toString()));
      written();
    },
    request: () => undefined,
    withdraw: () => undefined,
    answered: () => undefined,
    ended: () => endings.push("ended"),
    index: () => undefined,
    blob: () => undefined,
    log: () => undefined,
  };
  return { sent, endings, outlet };
}

const nothing = (): void => undefined;

test("reports the connection as ended if no thread can be started", async () => {
  const { settings, logged } = temporaryProject();
  const service = openRemoteService(settings, () => {
    throw new Error("too many open files");
  });
  const { sent, endings, outlet } = keepLines();
  const connection = service.connect(outlet);
  connection.open(1, { cwd: "/p", additionalDirectories: [] });
  expect(await connection.agentListed(1, [])).toBeUndefined();
  connection.callTool({ id: 1, method: "_acp-skills/list_skills", params: {} });
  expect([endings, sent]).toEqual([["ended"], []]);
  expect(logged[0]).toContain("too many open files");
  await connection.close();
  await service.close();
});

test("removes values that cannot be cloned before posting to the thread", () => {
  const { settings } = temporaryProject();
  const posted: unknown[] = [];
  const service = openRemoteService(settings, () => ({
    port: { postMessage: (message) => void posted.push(structuredClone(message)), ref: nothing, unref: nothing },
    end: nothing,
  }));
  const connection = service.connect(keepLines().outlet);
  connection.callTool({ id: 1, method: "_acp-skills/list_skills", params: { limit: 1, callback: nothing } });
  void connection.agentListed(1, [{ name: "x", run: nothing }]);
  expect(posted.slice(1)).toMatchObject([{ args: [{ id: 1, params: { limit: 1 } }] }, { args: [1, [{ name: "x" }]] }]);
});

async function openSession(
  service: SkillService,
  settings: Settings,
  clock: ReturnType<typeof manualClock>,
): Promise<{ interceptor: Interceptor; sent: Sent[] }> {
  const sent: Sent[] = [];
  const send = (line: Uint8Array): void => void sent.push(JSON.parse(Buffer.from(line).toString()) as Sent);
  const interceptor = new Interceptor({ service, settings, send, reply: () => undefined });
  await interceptor.fromEditor({ id: 1, method: "initialize", params: { protocolVersion: 1 } });
  await interceptor.fromAgent({ id: 1, result: { protocolVersion: 1 } });
  const opening = interceptor.fromEditor({ id: 2, method: "session/new", params: { cwd: "/p", mcpServers: [] } });
  // Lets the time limit of every request to the service expire.
  for (let round = 0; round < 10; round++) await Promise.resolve();
  clock.pass(60_000);
  expect(await opening).toEqual({ forward: true });
  await interceptor.fromAgent({ id: 2, result: { sessionId: "s" } });
  return { interceptor, sent };
}

function fail(): never {
  throw new Error("no such channel");
}
