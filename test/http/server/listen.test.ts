import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { defaultServerLimits } from "../../../src/http/config/default-config.ts";
import { listen } from "../../../src/http/server/listen.ts";
import { ownPeer } from "../../../src/http/server/share-connections.ts";
import type { PeerOf } from "../../../src/http/server/share-connections.ts";
import { manualClock } from "../../manual-clock.ts";
import type { ManualClock } from "../../manual-clock.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

interface Listening {
  readonly clock: ManualClock;
  readonly connect: () => Promise<Socket>;
  readonly connections: () => Promise<number>;
}

async function open(connections: number, peerOf: PeerOf): Promise<Listening> {
  const clock = manualClock();
  const { server, port } = await listen(
    { host: "127.0.0.1", port: 0, peerOf },
    {
      limits: { ...defaultServerLimits, connections },
      app: { clock, log: () => undefined },
      answer: (_, response) => void response.end("here"),
    },
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
