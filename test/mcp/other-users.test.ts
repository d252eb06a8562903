import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { openLoopbackServer } from "../../src/mcp/session-servers/loopback-server.ts";
import { type OpenMcpApp, openMcpApp } from "./open-mcp-app.ts";
import { legacyCall, rawRequest } from "./raw-request.ts";

const nobody = 65_534;
const canBeOthers = process.platform === "linux" && process.getuid?.() === 0;

const opened: OpenMcpApp[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).flatMap(({ server, sockets }) => [server.close(), sockets.close()]));
});

/** An app that records its calls. */
async function open(): Promise<OpenMcpApp & { calls: string[] }> {
  const calls: string[] = [];
  const app = await openMcpApp(undefined, {
    wrap: (toolbox) => ({
      call: (name, ...rest) => {
        calls.push(name);
        return toolbox.call(name, ...rest);
      },
    }),
  });
  opened.push(app);
  return { ...app, calls };
}

/** Runs a program as another user with the configuration of an agent, and returns its output. */
async function runAs(user: number, script: string, given: object): Promise<string> {
  const child = spawn(process.execPath, ["-e", script, JSON.stringify(given)], {
    uid: user,
    gid: user,
    cwd: "/",
    env: {},
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [printed] = await Promise.all([text(child.stdout), once(child, "close")]);
  return printed;
}

const post = `
  const { url, headers, bodies } = JSON.parse(process.argv[1]);
  const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  (async () => {
    for (const body of bodies) {
      const said = await fetch(url, { method: "POST", headers: { ...headers, ...json }, body: JSON.stringify(body) })
        .then(({ status }) => status, () => "refused");
      console.log(said);
    }
  })();`;

/** Sends requests and closes the sockets in three different ways before a response can arrive. */
const postAndLeave = `
  const { connect } = require("node:net");
  const { url, headers, bodies } = JSON.parse(process.argv[1]);
  const { port, host, pathname } = new URL(url);
  const body = JSON.stringify(bodies[0]);
  const head = ["POST " + pathname + " HTTP/1.1", "Host: " + host, "Authorization: " + headers.Authorization,
    "Accept: application/json, text/event-stream", "Content-Type: application/json", "Content-Length: " + body.length];
  const request = head.join("\\r\\n") + "\\r\\n\\r\\n" + body;
  const ways = [(socket) => socket.end(request), (socket) => socket.write(request, () => socket.destroy()),
    (socket) => socket.write(request, () => socket.resetAndDestroy())];
  for (let times = 0; times < 60; times++) {
    const socket = connect(Number(port), "127.0.0.1", () => ways[times % 3](socket)).on("error", () => {});
  }`;

const bodies = [
  { jsonrpc: "2.0", id: 1, method: "tools/list" },
  legacyCall("list_skills", {}, 2),
  legacyCall("run_code", { language: "python", code: "def main(): pass" }, 3),
];

describe.runIf(canBeOthers)("another user who has read the agent's configuration", () => {
  it("can neither list nor call tools over HTTP", async () => {
    const { server, caller, calls, logged } = await open();
    const { url, headers } = await server.open(caller);
    expect(await runAs(nobody, post, { url, headers, bodies })).toBe("refused\n".repeat(3));
    await runAs(nobody, postAndLeave, { url, headers, bodies: bodies.slice(1) });
    // When this is answered, all earlier requests have been processed.
    expect((await rawRequest({ url, headers } as never, { body: bodies[0] })).status).toBe(200);
    expect(calls).toEqual([]);
    expect(logged).toEqual([expect.stringContaining("by another user of this machine (uid 65534) was refused")]);
    expect(await runAs(0, post, { url, headers, bodies })).toBe("200\n".repeat(3));
  });

  it("cannot connect to the socket of the bridge", async () => {
    const { sockets, caller, calls } = await open();
    const { path } = await sockets.open(caller);
    const script = `
      const socket = require("node:net").connect(JSON.parse(process.argv[1]).path, () => console.log("connected"));
      socket.on("error", ({ code }) => console.log(code));`;
    expect(await runAs(nobody, script, { path })).toBe("EACCES\n");
    expect(calls).toEqual([]);
  });
});

describe("a connection whose peer", () => {
  it.each([
    ["is another user", () => Promise.resolve(4711), "by another user of this machine (uid 4711)"],
    ["cannot be found", () => Promise.resolve(undefined), undefined],
    ["lookup fails", () => Promise.reject(new Error("EMFILE")), "cannot be determined: Error: EMFILE"],
  ])("%s is closed without an answer", async (_what, userOf, told) => {
    const { app, caller, logged, calls } = await open();
    const server = openLoopbackServer(app, { userOf });
    const address = await server.open(caller);
    await expect(rawRequest(address, { body: bodies[1] })).rejects.toMatchObject({ code: "ECONNRESET" });
    await expect(rawRequest(address, { body: bodies[1] })).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(calls).toEqual([]);
    expect(logged).toEqual(told === undefined ? [] : [expect.stringContaining(told)]);
    await server.close();
  });
});
