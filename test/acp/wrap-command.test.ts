import { spawnSync } from "node:child_process";
import { EventEmitter } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ExitStatus } from "../../src/acp/relay/start-agent.ts";
import { wrapAgentCommand, type WrapCommandOptions } from "../../src/acp/wrap-command.ts";
import type { Clock } from "../../src/base/clock.ts";
import { openService } from "../../src/acp/remote-service.ts";
import { isSkillsError } from "../../src/base/errors.ts";
import { manualClock } from "../manual-clock.ts";

const script = fileURLToPath(new URL("../agent/scripted-agent.js", import.meta.url));
let root = "";

vi.mock(import("../../src/acp/remote-service.ts"), async (load) => ({
  openService: vi.fn((await load()).openService),
}));

beforeEach(() => {
  vi.mocked(openService).mockClear();
  root = mkdtempSync(join(tmpdir(), "acp-skills-wrap-"));
  mkdirSync(join(root, "pdf"));
  writeFileSync(join(root, "pdf", "SKILL.md"), "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead it well.\n");
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

interface Wrapped {
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly signals: EventEmitter;
  readonly ended: Promise<ExitStatus>;
  readonly logged: string[];
  readonly received: () => string;
  readonly write: (message: unknown) => void;
  /** Resolves when the editor has received this text. */
  readonly until: (text: string) => Promise<void>;
}

/** The scripted agent as a real process behind the wrapper. */
function wrap(
  manner: string[] = [],
  more: Partial<WrapCommandOptions> & { clock?: Clock; platform?: NodeJS.Platform } = {},
): Wrapped {
  const input = new PassThrough();
  const output = new PassThrough();
  const signals = new EventEmitter();
  const logged: string[] = [];
  let received = "";
  let check = (): void => undefined;
  output.on("data", (bytes: Buffer) => {
    received += bytes.toString();
    check();
  });
  const { clock, platform, ...rest } = more;
  const ended = wrapAgentCommand(
    {
      command: process.execPath,
      args: [script, ...manner],
      input,
      output,
      options: {
        directories: [root],
        defaultRoots: false,
        log: (level, text) => logged.push(`${level}: ${text}`),
      },
      ...rest,
    },
    { signals, ...(clock && { clock }), ...(platform && { platform }) },
  );
  return {
    input,
    output,
    signals,
    ended,
    logged,
    received: () => received,
    write: (message) => input.write(`${JSON.stringify(message)}\n`),
    until: (text) =>
      new Promise((resolve) => {
        check = () => {
          if (received.includes(text)) resolve();
        };
        check();
      }),
  };
}

async function inSession(wrapped: Wrapped): Promise<void> {
  wrapped.write({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
  wrapped.write({ id: 1, method: "session/new", params: { cwd: root, mcpServers: [] } });
  await wrapped.until('"sessionId":"session-1"');
}

function say(words: string, id = 2): object {
  return { id, method: "session/prompt", params: { sessionId: "session-1", prompt: [{ type: "text", text: words }] } };
}

test("lists skills as commands and sends a skill's instructions to the agent", async () => {
  const wrapped = wrap(["embedded", "commands=init"]);
  await inSession(wrapped);
  await wrapped.until('"name":"pdf"');
  wrapped.write(say("/pdf echo"));
  await wrapped.until("end_turn");
  wrapped.input.end();
  expect(await wrapped.ended).toEqual({ exitCode: 0 });
  expect(wrapped.received()).toContain("Read it well.");
  expect(wrapped.logged).toEqual([]);
});

test("delivers every update before the response that follows it", async () => {
  const wrapped = wrap();
  await inSession(wrapped);
  wrapped.write(say("update 2000; commands a; update 2000"));
  await wrapped.until("end_turn");
  wrapped.input.end();
  await wrapped.ended;
  const lines = wrapped.received().trimEnd().split("\n");
  const texts = lines.flatMap((line) => /"text":"\.*(\d+)"/.exec(line)?.[1] ?? []);
  expect(texts.map(Number)).toEqual([...Array(2000).keys(), ...Array(2000).keys()]);
  expect(lines.findIndex((line) => line.includes("end_turn"))).toBe(
    lines.findLastIndex((line) => line.includes('"text":"')) + 1,
  );
});

test("forwards a message of 20 MB", async () => {
  const wrapped = wrap();
  await inSession(wrapped);
  wrapped.write(say("huge 20000000"));
  await wrapped.until("end_turn");
  wrapped.input.end();
  await wrapped.ended;
  expect(wrapped.received()).toContain("x".repeat(20_000_000));
});

test("returns the agent's exit code even while stdin is open", async () => {
  const wrapped = wrap();
  await inSession(wrapped);
  wrapped.write(say("die 7"));
  expect(await wrapped.ended).toEqual({ exitCode: 7 });
  expect(wrapped.logged).toEqual(["error: The agent exited with code 7."]);
});

test("returns the signal that killed the agent", async () => {
  const wrapped = wrap();
  await inSession(wrapped);
  wrapped.write(say("kill SIGKILL"));
  expect(await wrapped.ended).toEqual({ exitCode: 137, signal: "SIGKILL" });
});

test.each(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"] as const)(
  "forwards %s to the agent",
  async (signal) => {
    const wrapped = wrap();
    await inSession(wrapped);
    wrapped.signals.emit(signal, signal);
    expect(await wrapped.ended).toMatchObject({ signal });
    expect(wrapped.signals.listenerCount(signal)).toBe(0);
  },
);

test("forwards output that is not JSON and logs it once", async () => {
  const wrapped = wrap(["banner"]);
  await inSession(wrapped);
  wrapped.input.end();
  await wrapped.ended;
  expect(wrapped.received().startsWith("Welcome to the scripted agent!\n")).toBe(true);
  expect(wrapped.logged).toEqual([expect.stringContaining("not JSON")]);
});

test("sends SIGTERM, then SIGKILL, to an agent that ignores the end of stdin", async () => {
  const clock = manualClock();
  const wrapped = wrap(["stubborn"], { clock });
  await inSession(wrapped);
  wrapped.input.end();
  await new Promise((resolve) => wrapped.input.once("close", resolve));
  await new Promise(setImmediate);
  clock.pass(5_000);
  clock.pass(5_000);
  expect(await wrapped.ended).toMatchObject({ signal: "SIGKILL" });
});

test("sends SIGKILL 5 s after SIGTERM to an agent that ignores it, however often it is signalled", async () => {
  const clock = manualClock();
  const wrapped = wrap(["stubborn"], { clock });
  await inSession(wrapped);
  const before = clock.pending;
  wrapped.signals.emit("SIGTERM", "SIGTERM");
  expect(clock.pending).toBe(before + 1);
  clock.pass(4_000);
  wrapped.signals.emit("SIGTERM", "SIGTERM");
  wrapped.input.end();
  clock.pass(1_000);
  expect(await wrapped.ended).toEqual({ exitCode: 137, signal: "SIGKILL" });
});

test.each(["SIGINT", "SIGHUP", "SIGUSR2"] as const)(
  "sets no time limit after %s, which need not end it",
  async (signal) => {
    const clock = manualClock();
    const wrapped = wrap(["stubborn"], { clock });
    await inSession(wrapped);
    const before = clock.pending;
    wrapped.signals.emit(signal, signal);
    expect(clock.pending).toBe(before);
    wrapped.signals.emit("SIGTERM", "SIGTERM");
    clock.pass(5_000);
    await wrapped.ended;
  },
);

test("ends the agent when the editor's stream fails", async () => {
  const wrapped = wrap();
  await inSession(wrapped);
  wrapped.output.destroy(new Error("EPIPE"));
  expect(await wrapped.ended).toEqual({ exitCode: 0 });
});

test.each(["linux", "win32"] as const)(
  "logs an error and returns 127 for a command that is not found (%s)",
  async (platform) => {
    const wrapped = wrap([], { command: "no-such-agent", platform });
    expect(await wrapped.ended).toEqual({ exitCode: 127 });
    expect(wrapped.logged).toEqual([expect.stringMatching(/^error: The agent command "no-such-agent" was not found/)]);
  },
);

test.skipIf(process.platform === "win32")(
  "logs an error and returns 126 for a file that is not executable",
  async () => {
    const file = join(root, "agent");
    writeFileSync(file, "");
    chmodSync(file, 0o644);
    const wrapped = wrap([], { command: file });
    expect(await wrapped.ended).toEqual({ exitCode: 126 });
    expect(wrapped.logged).toEqual([expect.stringContaining("not an executable file")]);
  },
);

test("forwards messages and the exit code when the agent is started through execa, as on Windows", async () => {
  const wrapped = wrap([], { platform: "win32" });
  await inSession(wrapped);
  await wrapped.until('"name":"pdf"');
  wrapped.write(say("die 3"));
  expect(await wrapped.ended).toEqual({ exitCode: 3 });
});

test("forwards a signal to an agent that was started through execa", async () => {
  const wrapped = wrap([], { platform: "win32" });
  await inSession(wrapped);
  wrapped.signals.emit("SIGTERM", "SIGTERM");
  expect(await wrapped.ended).toMatchObject(process.platform === "win32" ? {} : { signal: "SIGTERM" });
});

test("ends an agent that answers nothing when stdin ends", async () => {
  const wrapped = wrap(["mute"]);
  wrapped.write({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
  wrapped.input.end();
  expect(await wrapped.ended).toEqual({ exitCode: 0 });
});

test("ends an agent that never answers initialize when stdin ends, even if a session waits for that response", async () => {
  const wrapped = wrap(["mute"]);
  wrapped.write({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
  wrapped.write({ id: 1, method: "session/new", params: { cwd: root, mcpServers: [] } });
  wrapped.input.end();
  expect(await wrapped.ended).toEqual({ exitCode: 0 });
});

test("opens no service with announce none and no tools", async () => {
  const wrapped = wrap([], { options: { announce: "none", tools: "none" } });
  await inSession(wrapped);
  wrapped.write(say("/pdf echo"));
  await wrapped.until("end_turn");
  expect(openService).not.toHaveBeenCalled();
  wrapped.input.end();
  expect(await wrapped.ended).toEqual({ exitCode: 0 });
});

/** A clock on which the grace period for output of an exited agent passes immediately and longer times never pass. */
function impatientClock(): Clock {
  return {
    now: () => 0,
    after(ms, callback) {
      if (ms > 1_000) return () => undefined;
      const timer = setImmediate(callback);
      return () => {
        clearImmediate(timer);
      };
    },
  };
}

test.skipIf(process.platform === "win32")(
  "does not wait for a silent child that keeps the agent's stdout open",
  async () => {
    const wrapped = wrap([], { command: "sh", args: ["-c", "echo '{}'; sleep 5 & exit 4"], clock: impatientClock() });
    expect(await wrapped.ended).toEqual({ exitCode: 4 });
    expect(wrapped.received()).toBe("{}\n");
  },
);

test("delivers all output to a slow editor after the agent exited", async () => {
  const marker = join(root, "ended");
  const words = "process.stdout.write('x'.repeat(60_000) + '\\n' + 'y'.repeat(60_000));";
  const output = new PassThrough();
  const ended = wrapAgentCommand(
    {
      command: process.execPath,
      args: [
        "-e",
        `process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(marker)}, "")); ${words}`,
      ],
      input: new PassThrough(),
      output,
      options: { directories: [root], defaultRoots: false },
    },
    { clock: impatientClock(), signals: new EventEmitter() },
  );
  while (!existsSync(marker)) await new Promise(setImmediate);
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  let received = 0;
  output.on("data", (bytes: Buffer) => (received += bytes.length));
  expect(await ended).toEqual({ exitCode: 0 });
  expect(received).toBe(120_001);
});

test.skipIf(process.platform === "win32")(
  "stops forwarding output of a remaining child after a time limit or a signal",
  async () => {
    const chatter = ["-c", "(while :; do echo '{}' || exit; sleep 0.01; done) & exit 4"];
    const clock = manualClock();
    const limited = wrap([], { command: "sh", args: chatter, clock });
    // The first timer is started when the agent has exited.
    while (clock.pending === 0) await new Promise(setImmediate);
    for (let second = 0; second < 5; second++) {
      const heard = limited.received().length;
      while (limited.received().length === heard) await new Promise(setImmediate);
      clock.pass(1_000);
    }
    expect(await limited.ended).toEqual({ exitCode: 4 });
    const later = manualClock();
    const told = wrap([], { command: "sh", args: chatter, clock: later });
    while (later.pending === 0) await new Promise(setImmediate);
    told.signals.emit("SIGTERM", "SIGTERM");
    expect(await told.ended).toEqual({ exitCode: 4 });
  },
);

test.skipIf(process.platform === "win32")("waits less for a silent child of the agent after stdin ended", async () => {
  const clock = manualClock();
  const wrapped = wrap([], { command: "sh", args: ["-c", "sleep 5 & exit 4"], clock });
  while (clock.pending === 0) await new Promise(setImmediate);
  wrapped.input.end();
  await new Promise((resolve) => wrapped.input.once("close", resolve));
  await new Promise(setImmediate);
  clock.pass(100);
  expect(await wrapped.ended).toEqual({ exitCode: 4 });
});

test.each(["limit", "signal"] as const)("stops waiting for an editor that reads nothing: %s", async (end) => {
  const clock = manualClock();
  const signals = new EventEmitter();
  const ended = wrapAgentCommand(
    {
      command: process.execPath,
      args: ["-e", "process.stdout.write('x'.repeat(60_000)); process.exitCode = 3"],
      input: new PassThrough(),
      // Less than the agent writes; the default depends on the version of Node.
      output: new PassThrough({ highWaterMark: 16_384 }),
      options: { directories: [root], defaultRoots: false },
    },
    { clock, signals },
  );
  while (clock.pending === 0) await new Promise(setImmediate);
  // The agent's stdout has ended too, which starts a second timer until the exit is known.
  while (signals.listenerCount("SIGTERM") > 0) {
    await new Promise(setImmediate);
    if (end === "signal") signals.emit("SIGTERM", "SIGTERM");
    else clock.pass(1_000);
  }
  expect(await ended).toMatchObject({ exitCode: 3 });
});

test.skipIf(process.platform === "win32")(
  "ends the output when the agent closes its stdout, then sends SIGTERM when the editor leaves",
  async () => {
    const clock = manualClock();
    let hasEnded = (): void => undefined;
    const outputEnded = new Promise<void>((resolve) => (hasEnded = resolve));
    const wrapped = wrap([], {
      command: "sh",
      args: ["-c", "echo '{}'; exec 1>&-; exec sleep 20"],
      clock,
      endOutput: () => {
        expect(wrapped.received()).toBe("{}\n");
        hasEnded();
      },
    });
    await outputEnded;
    clock.pass(5_000);
    wrapped.input.end();
    while (clock.pending === 0) await new Promise(setImmediate);
    clock.pass(5_000);
    expect(await wrapped.ended).toMatchObject({ signal: "SIGTERM" });
  },
);

test("rejects an unknown option beside the command and suggests a name", async () => {
  const refused = wrapAgentCommand({
    command: "a",
    input: new PassThrough(),
    output: new PassThrough(),
    arg: [],
  } as never);
  await expect(refused).rejects.toThrow(/Unknown option "arg".*Did you mean "args"/);
});

test("rejects invalid options before anything is started", async () => {
  const refused = wrapAgentCommand({
    command: "no-such-agent",
    input: new PassThrough(),
    output: new PassThrough(),
    options: { announce: "loud" } as never,
  });
  await expect(refused).rejects.toSatisfy((error) => isSkillsError(error) && error.code === "INVALID_OPTIONS");
});

test.each([
  ["v1", []],
  ["v2", ["v2"]],
])(
  "serves tools to the model over HTTP in %s and allows read-only tools without asking the user",
  async (_protocol, manner) => {
    const wrapped = wrap(["http", ...manner]);
    await inSession(wrapped);
    wrapped.write(say('tool list_skills {"detail":"summary"}; permit list_skills; permit create_blob'));
    await wrapped.until('"method":"session/request_permission"');
    const asked = wrapped.received().match(/.*"session\/request_permission".*/g) ?? [];
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain("mcp__skills__create_blob");
    const { id } = JSON.parse(asked[0] ?? "{}") as { id: string };
    wrapped.write({ id, result: { outcome: { outcome: "cancelled" } } });
    await wrapped.until("cancelled");
    wrapped.input.end();
    await wrapped.ended;
    expect(wrapped.received()).toContain("Reads PDF files.");
    expect(wrapped.received()).toContain('{\\"outcome\\":\\"selected\\",\\"optionId\\":\\"once\\"}');
    expect(wrapped.logged).toEqual([expect.stringMatching(/^info: Allowed .*list_skills/)]);
  },
);

test("adds the MCP server to a session that is requested together with initialize", async () => {
  const wrapped = wrap(["http"]);
  const begin = { id: 0, method: "initialize", params: { protocolVersion: 1 } };
  const open = { id: 1, method: "session/new", params: { cwd: root, mcpServers: [] } };
  wrapped.input.write([begin, open, say("tool list_skills")].map((line) => `${JSON.stringify(line)}\n`).join(""));
  await wrapped.until("end_turn");
  wrapped.input.end();
  await wrapped.ended;
  expect(wrapped.received()).toContain('\\"name\\":\\"pdf\\"');
});

test("answers the editor's own calls during a turn", async () => {
  const wrapped = wrap();
  await inSession(wrapped);
  wrapped.write(say("silent"));
  wrapped.write({ id: 90, method: "_acp-skills/describe_skill", params: { name: "pdf" } });
  wrapped.write({ id: 91, method: "_acp-skills/describe_skil", params: {} });
  await wrapped.until('"id":91');
  wrapped.input.end();
  await wrapped.ended;
  const answers = wrapped
    .received()
    .split("\n")
    .filter((line) => /"id":9[01]/.test(line));
  expect(answers.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { id: 90, result: { skill: { manifest: { name: "pdf" }, files: [{ path: "SKILL.md" }] } } },
    {
      id: 91,
      error: { code: -32601, data: { available: expect.arrayContaining(["_acp-skills/describe_skill"]) as string[] } },
    },
  ]);
});

describe("an agent that cannot start", () => {
  const initialize = { jsonrpc: "2.0", id: "i-1", method: "initialize", params: { protocolVersion: 1 } };
  const script = (text: string): Parameters<typeof wrap>[1] => ({ command: process.execPath, args: ["-e", text] });
  const file = (name: string): string => {
    const made = join(root, name);
    writeFileSync(made, "");
    chmodSync(made, 0o644);
    return made;
  };

  test.each<[string, () => Parameters<typeof wrap>[1], number, string | (() => string)]>([
    [
      "is not found",
      () => ({ command: "no-such-agent" }),
      127,
      "Agent not found; check its command in your editor's settings. ",
    ],
    [
      "is not executable",
      () => ({ command: file("agent") }),
      126,
      () => `Agent not executable; fix: chmod +x ${join(root, "agent")}. `,
    ],
    [
      "is not executable and has a name that shells split",
      () => ({ command: file("it's an agent") }),
      126,
      () => `Agent not executable; fix: chmod +x '${join(root, String.raw`it'\''s an agent`)}'. `,
    ],
    [
      "is found in PATH, and not executable",
      () => ({ command: "agent", env: { PATH: dirname(file("agent")) } }),
      126,
      () => `Agent not executable; fix: chmod +x ${join(root, "agent")}. `,
    ],
    [
      "is a directory",
      () => ({ command: root }),
      126,
      "Agent not executable; check the file in your editor's settings. ",
    ],
    ["dies at once", () => script("process.exit(3)"), 3, "Agent exited with code 3; run its command in a terminal. "],
    [
      "dies before it has answered",
      () => script('process.stdin.once("data", () => process.exit(4))'),
      4,
      "Agent exited with code 4; run its command in a terminal. ",
    ],
    [
      "is killed before it has answered",
      () => script('process.stdin.once("data", () => process.kill(process.pid, "SIGKILL"))'),
      137,
      "Agent was ended by SIGKILL; run its command in a terminal. ",
    ],
  ])("and %s says so in the answer to initialize, in what editors show of it", async (_why, more, exitCode, said) => {
    const wrapped = wrap([], more());
    wrapped.input.write(`${JSON.stringify(initialize)}\n`);
    expect(await wrapped.ended).toMatchObject({ exitCode });
    const [answer, ...rest] = wrapped.received().trim().split("\n");
    expect(rest).toEqual([]);
    const { id, error } = JSON.parse(answer ?? "") as { id: string; error: { code: number; message: string } };
    expect([id, error.code]).toEqual(["i-1", -32010]);
    const text = typeof said === "string" ? said : said();
    expect(text.replace(root, "/usr/bin").length).toBeLessThanOrEqual(70);
    expect(error.message.startsWith(text)).toBe(true);
  });

  test("and dies in the middle of its answer leaves that answer on a line of its own", async () => {
    const wrapped = wrap(
      [],
      script('process.stdin.once("data", () => process.stdout.write(\'{"jsonrpc":\', () => process.exit(6)))'),
    );
    wrapped.input.write(`${JSON.stringify(initialize)}\n`);
    expect(await wrapped.ended).toEqual({ exitCode: 6 });
    const [partial, answer] = wrapped.received().trim().split("\n");
    expect(partial).toBe('{"jsonrpc":');
    expect(JSON.parse(answer ?? "")).toMatchObject({ id: "i-1", error: { code: -32010 } });
  });

  test("and has answered is not answered for", async () => {
    const answer = { jsonrpc: "2.0", id: "i-1", result: { protocolVersion: 1, agentCapabilities: {} } };
    const text = `process.stdin.once("data", () => process.stdout.write(${JSON.stringify(`${JSON.stringify(answer)}\n`)}, () => process.exit(5)))`;
    const wrapped = wrap([], script(text));
    wrapped.input.write(`${JSON.stringify(initialize)}\n`);
    expect(await wrapped.ended).toEqual({ exitCode: 5 });
    expect(wrapped.received()).not.toContain("error");
    expect(wrapped.received().trim().split("\n")).toHaveLength(1);
  });
});

test.skipIf(process.platform === "win32")(
  "a program with streams of its own lives until the processes that its agent left have ended",
  () => {
    const stubborn = `process.on("SIGTERM", () => {}); setInterval(() => {}, 1_000);`;
    const agent = `
      require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(stubborn)}], { stdio: "ignore" });
      console.log("{}");
      process.stdin.resume().on("end", () => setTimeout(() => process.exit(), 300));`;
    const program = `
      import { PassThrough } from "node:stream";
      import { wrapCommand } from "acp-skills";
      const [input, output] = [new PassThrough(), new PassThrough()];
      output.once("data", () => setTimeout(() => input.end(), 300)).resume();
      const options = { tools: "none", announce: "none" };
      const ended = await wrapCommand({ command: process.execPath, args: ["-e", ${JSON.stringify(agent)}], input, output, options });
      console.log(JSON.stringify(ended));`;
    const root = fileURLToPath(new URL("../..", import.meta.url));
    const args = ["--input-type=module", "-e", program];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '{"exitCode":0}\n', stderr: "" });
  },
);
