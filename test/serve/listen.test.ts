import { createHook } from "node:async_hooks";
import { once } from "node:events";
import { Socket, connect } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { listen } from "../../src/serve/listen.ts";
import { type PeerOf, createPeerIdentifier, ownPeer } from "../../src/serve/listen/share-connections.ts";
import { type ManualClock, manualClock } from "../manual-clock.ts";
import { defaultServerLimits } from "../../src/serve/config.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

interface Listening {
  readonly clock: ManualClock;
  readonly connect: () => Promise<Socket>;
  readonly connections: () => Promise<number>;
}

async function open(connections: number, peerOf: PeerOf, body: string | Buffer = "here"): Promise<Listening> {
  const clock = manualClock();
  const { server, port } = await listen(
    { host: "127.0.0.1", port: 0, peerOf },
    { ...defaultServerLimits, connections },
    { clock, log: () => undefined },
    (_, response) => void response.end(body),
  );
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    clock,
    async connect() {
      const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
      socket.on("error", () => undefined);
      closing.push(() => socket.destroy());
      await once(socket, "connect");
      return socket;
    },
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
      }),
  };
}

async function answerTo(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("utf8").on("data", (more: string) => (text += more));
  socket.write("GET / HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n");
  await once(socket, "close").catch(() => undefined);
  return text.split("\r\n", 1)[0] ?? "";
}

test("a bad client that does not leave is answered, and disconnected after a moment", async () => {
  const { clock, connect: newClient, connections } = await open(64, () => Promise.resolve(ownPeer));
  const client = await newClient();
  let text = "";
  client.setEncoding("utf8").on("data", (more: string) => (text += more));
  client.write("nonsense\r\n\r\n");
  await once(client, "end");
  expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  // Its own half of the connection stays open.
  expect(await connections()).toBe(1);
  clock.pass(1_000);
  await vi.waitFor(async () => expect(await connections()).toBe(0));
  expect(clock.pending).toBe(0);
});

test("one peer gets half of the connections, all others three quarters, and this user always one", async () => {
  const peers = [...Array<string>(100).fill("other"), ...Array<string>(100).fill("third"), ownPeer];
  // The order of connecting is that of accepting.
  const peerOf: PeerOf = () => Promise.resolve(peers.shift() ?? "");
  const { connect: newClient, connections } = await open(64, peerOf);
  for (const most of [32, 48]) {
    for (let count = 0; count < 100; count++) await newClient();
    await vi.waitFor(async () => expect(await connections()).toBe(most));
  }
  const own = await newClient();
  const answer = answerTo(own);
  own.end();
  expect(await answer).toBe("HTTP/1.1 200 OK");
});

test("this user finds room while more connections than the limit are looked up", async () => {
  let asked = 0;
  const peerOf: PeerOf = () => (asked++ < 200 ? new Promise(() => undefined) : Promise.resolve(ownPeer));
  const { connect: newClient } = await open(64, peerOf);
  for (let count = 0; count < 216; count++) await newClient();
  const own = await newClient();
  const answer = answerTo(own);
  own.end();
  expect(await answer).toBe("HTTP/1.1 200 OK");
});

test("admitting a connection takes the same work however many are open", async () => {
  let promises = 0;
  const hook = createHook({ init: (_id, type) => void (promises += type === "PROMISE" ? 1 : 0) });
  const { connect: newClient, connections } = await open(512, () => Promise.resolve("other"));
  hook.enable();
  closing.push(() => hook.disable());
  for (let count = 0; count < 400; count++) await newClient();
  await vi.waitFor(async () => expect(await connections()).toBe(256));
  expect(promises / 400).toBeLessThan(50);
});

test("peers on this machine are known by their user at each of its addresses, and others by their network", async () => {
  const peerOf = createPeerIdentifier({ userOf: () => Promise.resolve(65_534) });
  const addresses = ["127.0.0.1", "::1", "::ffff:127.0.0.1", "192.0.2.7", "2001:db8:1:2:3::4"];
  const peers = addresses.map(async (value) => {
    const socket = new Socket();
    Object.defineProperty(socket, "remoteAddress", { value });
    return await peerOf(socket);
  });
  const user = "user 65534";
  expect(await Promise.all(peers)).toEqual([user, user, user, "192.0.2.7", "2001:db8:1:2"]);
});

test("a reader slower than 1 KiB/s for a minute is disconnected, and a faster one is not", async () => {
  const { clock, connect: newClient, connections } = await open(64, () => ownPeer, Buffer.alloc(32 * 1024 * 1024));
  let received = 0;
  const readers = [await newClient(), await newClient()];
  for (const reader of readers) {
    reader.write("GET / HTTP/1.1\r\nhost: here\r\n\r\n");
    await once(reader, "readable");
  }
  const [slow, fast] = readers;
  clock.pass(60_000);
  slow?.read(1_024);
  fast?.on("data", ({ length }: Buffer) => {
    received += length;
    if (received > 16 * 1024 * 1024) fast.pause();
  });
  await vi.waitFor(() => expect(received).toBeGreaterThan(16 * 1024 * 1024));
  clock.pass(60_000);
  await vi.waitFor(async () => expect(await connections()).toBe(1));
  expect(fast?.closed).toBe(false);
});
