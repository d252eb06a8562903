import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { MessageChannel } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import { openLocalService } from "../../../src/acp/service/local-service.ts";
import { servePort } from "../../../src/acp/service/serve-port.ts";
import type { EquipRequest, FromService, ToService } from "../../../src/acp/skill-service.ts";
import { negotiate } from "../../../src/acp/negotiation.ts";
import type { ThreadReply } from "../../../src/base/processes/threads.ts";
import { readOptions } from "../../../src/runtime/options.ts";
import { type ManualClock, manualClock } from "../../manual-clock.ts";

vi.mock(import("../../../src/acp/service/local-service.ts"), async (load) => ({
  openLocalService: vi.fn((await load()).openLocalService),
}));

interface Entry {
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

interface Served {
  readonly tell: (message: ToService) => void;
  readonly ask: (method: Extract<ToService, { kind: "ask" }>["method"], ...args: unknown[]) => Promise<unknown>;
  /** What happened at that end. */
  readonly events: string[];
  readonly clock: ManualClock;
}

const capabilities = { mcpCapabilities: { http: true } };
const request: EquipRequest = {
  sessionId: undefined,
  negotiation: negotiate({ protocolVersion: 1 }, { protocolVersion: 1, agentCapabilities: capabilities }),
  transport: "http",
  name: "skills",
};

/** The service at the other end of a port, with one skill. */
function serve(): Served {
  vi.mocked(openLocalService).mockClear();
  const project = mkdtempSync(path.join(tmpdir(), "acp-skills-port-"));
  mkdirSync(path.join(project, ".agents/skills/pdf"), { recursive: true });
  writeFileSync(path.join(project, ".agents/skills/pdf/SKILL.md"), "---\nname: pdf\ndescription: Reads.\n---\nRead.\n");
  const clock = manualClock();
  const options = { dataDirectory: path.join(project, "data") };
  const { port1: ours, port2: theirs } = new MessageChannel();
  const answers = new Map<number, (value: unknown) => void>();
  ours.on("message", (message: FromService | ThreadReply) => {
    if (message.kind === "answer") answers.get(message.call)?.(message.value);
  });
  const tell = (message: ToService): void => {
    ours.postMessage(message);
  };
  const events: string[] = [];
  const post = theirs.postMessage.bind(theirs);
  vi.spyOn(theirs, "postMessage").mockImplementation((message: FromService | ThreadReply) => {
    events.push(message.kind);
    post(message);
  });
  servePort(theirs, readOptions(options, { home: path.join(project, "home"), clock }));
  onTestFinished(async () => {
    const closed = new Promise((resolve) => ours.once("close", resolve));
    tell({ kind: "close" });
    await closed;
    rmSync(project, { recursive: true });
  });
  tell({ kind: "connect", connection: 1 });
  tell({ kind: "ask", connection: 1, method: "open", args: [1, { cwd: project, additionalDirectories: [] }] });
  let calls = 0;
  return {
    tell,
    async ask(method, ...args) {
      const call = ++calls;
      const answered = new Promise((resolve) => answers.set(call, resolve));
      tell({ kind: "ask", connection: 1, method, args, call });
      return await answered;
    },
    events,
    clock,
  };
}

async function callTool({ url, headers }: Entry): Promise<string> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...Object.fromEntries(headers.map(({ name, value }) => [name, value])),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "list_skills", arguments: {} },
    }),
  });
  return await response.text();
}

test("the agent gets the address of the tools before they are loaded, and what it asks meanwhile is answered", async () => {
  const { ask, events } = serve();
  vi.mocked(openLocalService).mockImplementationOnce((...given) => {
    events.push("loaded");
    return openLocalService(...given);
  });
  const entry = await ask("equip", 1, request);
  expect(entry).toMatchObject({ type: "http", name: "skills" });
  expect(await callTool(entry as Entry)).toContain("pdf");
  expect(events.slice(0, 2)).toEqual(["answer", "loaded"]);
});

test("a server whose session ended before it was served is closed, and what was asked of it fails", async () => {
  const { ask, tell } = serve();
  tell({ kind: "ask", connection: 1, method: "release", args: [1] });
  const entry = (await ask("equip", 1, request)) as Entry;
  await vi.waitFor(async () => {
    expect(await callTool(entry)).toContain("Not found.");
  });
});

test("everything is loaded a moment after initialize, when the editor opens no session", async () => {
  const { tell, ask, clock } = serve();
  tell({ kind: "ask", connection: 1, method: "prepare", args: [] });
  await vi.waitFor(() => {
    expect(clock.pending).toBe(1);
  });
  expect(openLocalService).not.toHaveBeenCalled();
  clock.pass(100);
  await vi.waitFor(() => {
    expect(openLocalService).toHaveBeenCalledOnce();
  });
  expect(await ask("equip", 1, request)).toMatchObject({ name: "skills" });
});

test("a connection that opened no session is closed without loading anything", async () => {
  const { ask } = serve();
  await ask("close");
  expect(openLocalService).not.toHaveBeenCalled();
});

/** What a module loads at once: files of ours, and packages. */
function loadedWith(file: URL, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file.href)) return found;
  found.add(file.href);
  const text = readFileSync(fileURLToPath(file), "utf8");
  for (const [, names, from = ""] of text.matchAll(/^(?:im|ex)port ([^"]*?)from "([^"]+)";/gm)) {
    if (names?.startsWith("type ") === true) continue;
    if (from.startsWith(".")) loadedWith(new URL(from, file), found);
    else if (!from.startsWith("node:")) found.add(from);
  }
  return found;
}

test("it starts without the libraries of tools, which would delay the first session", () => {
  const loaded = loadedWith(new URL("../../../src/acp/service/serve-port.ts", import.meta.url));
  expect(loaded.size).toBeGreaterThan(10);
  expect([...loaded].filter((name) => /^(?:zod|@modelcontextprotocol)/.test(name))).toEqual([]);
});
