import { connect, Server } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { LoopbackAddress } from "../../../src/mcp/session-servers/loopback-server.ts";
import type { FollowedCall } from "../../../src/mcp/mcp-caller.ts";
import { SkillsError } from "../../../src/base/errors.ts";
import { maxBodyBytes } from "../../../src/wire/http.ts";
import { onPrinted } from "../../on-printed.ts";
import type { Toolbox } from "../../../src/runtime/tools/toolbox.ts";
import { printed } from "../../printed.ts";
import { type OpenMcpApp, openMcpApp } from "../open-mcp-app.ts";
import { legacyCall, modernRequest, rawRequest } from "../raw-request.ts";
import { waitingToolbox } from "../waiting-toolbox.ts";

const opened: OpenMcpApp[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ server }) => server.close()));
});

async function open(
  options: Parameters<typeof openMcpApp>[1] = {},
): Promise<OpenMcpApp & { address: LoopbackAddress }> {
  const app = await openMcpApp(undefined, options);
  opened.push(app);
  return { ...app, address: await app.server.open(app.caller) };
}

const list = legacyCall("list_skills", {});

describe("the output of a running call", () => {
  const printing = (): Pick<Toolbox, "call"> => ({
    call: (_name, _args, { onEvent }) => {
      for (const behind of [0, 3]) onEvent?.({ runId: "run_1", type: "queued", behind });
      for (const text of ["one", "two"]) onEvent?.(printed(text));
      return Promise.resolve({});
    },
  });
  const call = (_meta: object): object => {
    return { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "run_code", arguments: {}, _meta } };
  };

  it("is sent to a client that asked, after a message that it waits for other runs, and to the listener of the call that the client names", async () => {
    const followed: string[] = [];
    const nothing = (): undefined => undefined;
    const follow = ({ toolCallId }: FollowedCall) =>
      toolCallId === undefined
        ? undefined
        : {
            onEvent: onPrinted((text) => void followed.push(`${toolCallId} ${text}`)),
            ...{ subagent: nothing, signal: AbortSignal.any([]), ended: () => void followed.push("ended") },
          };
    const app = await openMcpApp(undefined, { wrap: printing });
    opened.push(app);
    const address = await app.server.open({ ...app.caller, follow });

    const both = await rawRequest(address, { body: call({ progressToken: 7, "claudecode/toolUseId": "toolu_1" }) });
    const messages = ["Waiting for other runs to end.\\n", "one", "two"];
    expect(both.text.match(/"message":"[^"]+"/g)).toEqual(messages.map((text) => `"message":"${text}"`));
    expect(followed.splice(0)).toEqual(["toolu_1 one", "toolu_1 two", "ended"]);

    await rawRequest(address, { body: call({ "claudecode/toolUseId": "toolu_2" }) });
    expect(followed.splice(0)).toEqual(["toolu_2 one", "toolu_2 two", "ended"]);

    for (const meta of [{}, { "claudecode/toolUseId": 5 }, { progressToken: 1 }])
      await rawRequest(address, { body: call(meta) });
    expect(followed).toEqual([]);
  });
});

describe("a call of a subagent", () => {
  it("is made in its name, and ends with a reason for the model when the user cancels the subagent", async () => {
    const subagents: (string | undefined)[] = [];
    const user = new AbortController();
    let known: string | undefined;
    let ended = 0;
    const app = await openMcpApp(undefined, {
      wrap: () => ({
        call: (_name, _args, caller, signal) =>
          new Promise((_resolve, reject) => {
            subagents.push(caller.subagent);
            known = "child";
            subagents.push(caller.subagent);
            signal?.addEventListener("abort", () => reject(signal.reason as Error));
            user.abort("the subagent");
          }),
      }),
    });
    opened.push(app);
    const follow = () => ({
      onEvent: () => undefined,
      subagent: () => known,
      signal: user.signal,
      ended: () => {
        ended++;
      },
    });
    const address = await app.server.open({ ...app.caller, follow });
    const params = { name: "run_code", arguments: {} };
    const { message } = await rawRequest(address, { body: { jsonrpc: "2.0", id: 1, method: "tools/call", params } });
    expect(JSON.stringify(message.result)).toContain("run_code was cancelled: the user cancelled the subagent.");
    expect([subagents, ended]).toEqual([[undefined, "child"], 1]);
  });
});

describe("a run that the user cancels", () => {
  it("is aborted alone, and its model reads that", async () => {
    const cancelled = new Map<unknown, AbortController>();
    const { wrap, started } = waitingToolbox();
    const follow = ({ input }: FollowedCall) => {
      const controller = new AbortController();
      cancelled.set((input as { code: string }).code, controller);
      const ended = (): void => void cancelled.delete((input as { code: string }).code);
      return { onEvent: () => undefined, subagent: () => undefined, signal: controller.signal, ended };
    };
    const app = await openMcpApp(undefined, { wrap });
    opened.push(app);
    const address = await app.server.open({ ...app.caller, follow });
    const run = (code: string) => rawRequest(address, { body: legacyCall("run_code", { language: "python", code }) });
    const [first, second] = [run("1"), run("2")];
    await started;
    await expect.poll(() => [...cancelled.keys()].sort()).toEqual(["1", "2"]);
    cancelled.get("1")?.abort("this call");
    expect((await first).text).toContain("run_code was cancelled: the user cancelled this call.");
    expect([...cancelled.keys()]).toEqual(["2"]);
    cancelled.get("2")?.abort();
    expect((await second).message.result?.isError).toBe(true);
  });
});

describe("admission", () => {
  it("admits a client with path and token", async () => {
    const { address } = await open();
    const { status, message } = await rawRequest(address, { body: list });
    expect(status).toBe(200);
    expect(message.result?.isError).toBeUndefined();
  });

  it("gives each session a path and a token of 256 random bits, on 127.0.0.1", async () => {
    const { address } = await open();
    expect(address.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp\/[A-Za-z0-9_-]{43}$/);
    expect(address.headers.Authorization).toMatch(/^Bearer [A-Za-z0-9_-]{43}$/);
  });

  it.each([
    ["a foreign Host", { host: "evil.example" }, 421],
    ["our Host with another port", { host: "127.0.0.1:1" }, 421],
    ["our Host as a part of another", { host: "127.0.0.1.evil.example" }, 421],
    ["a foreign Origin", { origin: "https://evil.example" }, 403],
    ["the opaque Origin", { origin: "null" }, 403],
    ["no token", { Authorization: undefined }, 401],
    ["a wrong token", { Authorization: `Bearer ${"x".repeat(43)}` }, 401],
    ["another scheme", { Authorization: `Basic ${"x".repeat(43)}` }, 401],
    ["another type of body", { "content-type": "text/plain" }, 415],
  ])("refuses %s", async (_what, headers, status) => {
    const { address } = await open();
    const answer = await rawRequest(address, { headers, body: list });
    expect(answer.status).toBe(status);
    expect(answer.message.error).toBeDefined();
    expect(answer.message.id).toBeNull();
    expect(answer.text).not.toContain("alpha");
  });

  it("accepts the host localhost, and its own Origin", async () => {
    const { address } = await open();
    const { port } = new URL(address.url);
    const headers = { host: `localhost:${port}`, origin: `http://127.0.0.1:${port}` };
    expect((await rawRequest(address, { headers, body: list })).status).toBe(200);
  });

  it("asks for the token as RFC 6750 specifies", async () => {
    const { address } = await open();
    const answer = await rawRequest(address, { headers: { Authorization: undefined }, body: list });
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
    expect(answer.message.error?.data).toMatchObject({ code: "AUTH_REQUIRED" });
  });

  it.each(["/", "/mcp", "/mcp/", `/mcp/${"x".repeat(43)}`, "/.well-known/oauth-protected-resource", "*"])(
    "knows nothing at %s",
    async (path) => {
      const { address } = await open();
      expect((await rawRequest(address, { path, body: list })).status).toBe(404);
    },
  );

  it("refuses its path with anything appended", async () => {
    const { address } = await open();
    const { pathname } = new URL(address.url);
    for (const path of [`${pathname}/`, `${pathname}?a=1`, `//x${pathname}`, `http://evil.example${pathname}`]) {
      expect((await rawRequest(address, { path, body: list })).status, path).toBe(404);
    }
  });

  it.each(["GET", "DELETE", "PUT", "OPTIONS"])("answers 405 to %s", async (method) => {
    const { address } = await open();
    const answer = await rawRequest(address, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe("POST");
  });

  it("refuses a request of HTTP/1.0 without Host", async () => {
    const { address } = await open();
    const { port, pathname } = new URL(address.url);
    const answer = await new Promise<string>((resolve, reject) => {
      let text = "";
      const socket = connect(Number(port), "127.0.0.1", () => {
        socket.write(`POST ${pathname} HTTP/1.0\r\nContent-Length: 0\r\n\r\n`);
      });
      socket.setEncoding("utf8").on("data", (chunk) => (text += String(chunk)));
      socket.on("end", () => {
        resolve(text);
      });
      socket.on("error", reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 421 /);
  });
});

describe("bodies", () => {
  const padded = (length: number): string => {
    const text = JSON.stringify(list);
    return text + " ".repeat(length - text.length);
  };

  it("accepts one of exactly the limit", async () => {
    const { address } = await open();
    expect((await rawRequest(address, { text: padded(maxBodyBytes) })).status).toBe(200);
  });

  it("refuses one byte more, with or without content-length", async () => {
    const { address } = await open();
    const text = padded(maxBodyBytes + 1);
    const declared = await rawRequest(address, { text, headers: { "content-length": String(text.length) } });
    const chunked = await rawRequest(address, { text, headers: { "transfer-encoding": "chunked" } });
    for (const answer of [declared, chunked]) {
      expect(answer.status).toBe(413);
      expect(answer.message.error?.message).toContain(String(maxBodyBytes));
    }
  });

  it.each(["", "{", "null", "1", "[]", '"x"', "{}", '{"jsonrpc":"2.0"}', "\u0000"])(
    "answers %j with an error and continues to serve",
    async (text) => {
      const { address } = await open();
      const answer = await rawRequest(address, { text });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
      expect(answer.message.error).toBeDefined();
      expect((await rawRequest(address, { body: list })).status).toBe(200);
    },
  );
});

describe("sessions", () => {
  it("refuses the token of another session", async () => {
    const { server, caller, address } = await open();
    const other = await server.open({ ...caller, owner: "other", sessionId: "s2" });
    const answer = await rawRequest(address, { headers: other.headers, body: list });
    expect(answer.status).toBe(401);
  });

  it("keeps the blobs of one owner from another", async () => {
    const { server, caller, address } = await open();
    const other = await server.open({ ...caller, owner: "other", sessionId: "s2" });
    const created = await rawRequest(address, {
      body: legacyCall("create_blob", { content: "mine", kind: "text/plain" }),
    });
    const { blob_id } = created.message.result?.structuredContent as { blob_id: string };
    const read = { body: legacyCall("read_blob", { blob_id }) };
    const own = await rawRequest(address, read);
    const foreign = await rawRequest(other, read);
    expect(own.message.result?.structuredContent).toMatchObject({ content: "mine" });
    expect(foreign.message.result).toMatchObject({
      isError: true,
      structuredContent: { code: -32602, data: { code: "BLOB_NOT_FOUND" } },
    });
  });

  it("shows each caller its own skills and tools", async () => {
    const { server, caller } = await open();
    const narrow = await server.open({
      ...caller,
      visible: ({ name }) => name === "beta",
      tools: ["list_skills"],
    });
    const listed = await rawRequest(narrow, { body: list });
    expect(JSON.stringify(listed.message.result)).not.toContain("alpha");
    const tools = await rawRequest(narrow, { body: { jsonrpc: "2.0", id: 1, method: "tools/list" } });
    expect(tools.message.result?.tools).toMatchObject([{ name: "list_skills" }]);
    const hidden = await rawRequest(narrow, { body: legacyCall("describe_skill", { name: "beta" }) });
    expect(hidden.message.error).toMatchObject({ code: -32602, data: { available: ["list_skills"] } });
    const skills = await rawRequest(narrow, { body: { jsonrpc: "2.0", id: 1, method: "skills/list", params: {} } });
    expect(skills.message.error).toMatchObject({ code: -32601 });
  });

  it("answers a closed session's path like an unknown one", async () => {
    const { server, caller, address } = await open();
    const other = await server.open(caller);
    await address.close();
    await address.close();
    const never = await rawRequest(address, { path: `/mcp/${"y".repeat(43)}`, body: list });
    const gone = await rawRequest(address, { body: list });
    const withoutToken = await rawRequest(address, { headers: { Authorization: undefined }, body: list });
    expect([gone.status, gone.text]).toEqual([never.status, never.text]);
    expect([withoutToken.status, withoutToken.text]).toEqual([never.status, never.text]);
    expect((await rawRequest(other, { body: list })).status).toBe(200);
  });
});

describe("a session that cannot be served", () => {
  const failing = async (error: Error): Promise<Awaited<ReturnType<typeof rawRequest>>> => {
    const { server } = await open();
    const caller = Promise.reject(error);
    caller.catch(() => undefined);
    return await rawRequest(await server.open(caller), { body: list });
  };

  it("is answered for, so that the agent does not see a lost connection", async () => {
    const { status, message } = await failing(new Error("a file is gone"));
    expect([status, message.error]).toMatchObject([503, { code: -32000, data: { retryable: true } }]);
    expect(JSON.stringify(message.error)).toMatch(/cannot be loaded/);
    expect(JSON.stringify(message.error)).not.toContain("a file is gone");
  });

  it("is like one that is closed, if it ended before it began", async () => {
    expect((await failing(new SkillsError("CLOSED", "The session has ended."))).status).toBe(404);
  });
});

describe("cancellation", () => {
  it("cancels a call whose client disconnects", async () => {
    const { wrap, started, cancelledCalls } = waitingToolbox();
    const { address } = await open({ wrap });
    const { hostname, port, pathname } = new URL(address.url);
    const body = JSON.stringify(list);
    const head = [
      `POST ${pathname} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      `Authorization: ${address.headers.Authorization}`,
      "Accept: application/json, text/event-stream",
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ];
    const socket = connect(Number(port), hostname);
    socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
    await started;
    socket.destroy();
    await expect.poll(cancelledCalls).toBe(1);
  });

  it("cancels the call that notifications/cancelled names, and no other session's", async () => {
    const { wrap, started, cancelledCalls } = waitingToolbox();
    const { address, server, caller } = await open({ wrap });
    const other = await server.open(caller);
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "a" } };
    const waiting = rawRequest(address, { body: legacyCall("list_skills", {}, "a") });
    await started;
    expect((await rawRequest(other, { body: cancelled })).status).toBe(202);
    expect(cancelledCalls()).toBe(0);
    expect((await rawRequest(address, { body: cancelled })).status).toBe(202);
    await waiting;
    expect(cancelledCalls()).toBe(1);
  });

  it.each([
    ["before 2026-07-28", { body: list }],
    ["since", modernRequest("tools/call", { name: "list_skills" })],
  ])("cancels the requests of a closed session, %s", async (_when, request) => {
    const { wrap, started, cancelledCalls } = waitingToolbox();
    const { address } = await open({ wrap });
    const waiting = rawRequest(address, request).catch(() => undefined);
    await started;
    await address.close();
    await waiting;
    expect(cancelledCalls()).toBe(1);
  });
});

describe("port errors", () => {
  afterEach(() => vi.restoreAllMocks());

  it("retries listening for the next session", async () => {
    const { server, caller } = await openMcpApp();
    vi.spyOn(Server.prototype, "listen").mockImplementationOnce(function (this: Server) {
      process.nextTick(() => this.emit("error", new Error("EMFILE")));
      return this;
    });
    await expect(server.open(caller)).rejects.toThrow("EMFILE");
    const address = await server.open(caller);
    expect((await rawRequest(address, { body: list })).status).toBe(200);
    await server.close();
  });

  it("survives connections that cannot be accepted", async () => {
    const listen = vi.spyOn(Server.prototype, "listen");
    const { address, logged } = await open();
    const server = listen.mock.contexts[0] as Server;
    for (let times = 0; times < 3; times++) server.emit("error", new Error("accept EMFILE"));
    expect(logged.filter((line) => line.includes("accept EMFILE"))).toHaveLength(3);
    expect((await rawRequest(address, { body: list })).status).toBe(200);
  });
});

describe("closing", () => {
  it("closes every connection, and is idempotent", async () => {
    const { server, address } = await open();
    const { hostname, port } = new URL(address.url);
    const idle = connect(Number(port), hostname);
    await new Promise((resolve) => idle.once("connect", resolve));
    const ended = new Promise((resolve) => idle.once("close", resolve));
    idle.on("error", () => undefined).resume();
    await Promise.all([server.close(), server.close()]);
    await ended;
    await expect(rawRequest(address, { body: list })).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("refuses to open sessions afterwards, and those being opened", async () => {
    const { caller, server } = await openMcpApp();
    const opening = server.open(caller);
    const closing = server.close();
    await expect(opening.then((address) => rawRequest(address, { body: list }))).rejects.toBeDefined();
    await closing;
    await expect(server.open(caller)).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("does not listen before the first session", async () => {
    const { server } = await openMcpApp();
    await server.close();
  });
});
