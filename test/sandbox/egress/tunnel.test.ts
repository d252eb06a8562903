import { once } from "node:events";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { clientHello, inRecords } from "./client-hello.ts";
import { exchange, listen, openProxied, openTunnel, publicAddress } from "./proxied.ts";

const names = { "api.example.org": [publicAddress] };

describe("tunnels", () => {
  const hello = inRecords(clientHello({ names: ["API.example.org"] }));
  /** A server that echoes every byte. */
  const echo = (): Promise<number> => listen(createServer((socket: Socket) => void socket.pipe(socket)));

  test("connect the client to the checked address if the server name of its ClientHello is allowed", async () => {
    const upstream = await echo();
    const { port, connections } = await openProxied(["https://api.example.org"], { names, upstream });
    const { head, socket } = await openTunnel(port, "api.example.org:443");
    expect(head).toBe("HTTP/1.1 200 Connection Established\r\n\r\n");
    const received: Buffer[] = [];
    socket.on("data", (bytes) => received.push(bytes));
    socket.write(hello.subarray(0, 20));
    socket.end(Buffer.concat([hello.subarray(20), Buffer.alloc(500_000, "x")]));
    await once(socket, "close");
    expect(Buffer.concat(received)).toEqual(Buffer.concat([hello, Buffer.alloc(500_000, "x")]));
    expect(connections).toEqual([`${publicAddress}:443`]);
  });

  test("forward a ClientHello that is sent together with the CONNECT request", async () => {
    const upstream = await listen(createServer((socket: Socket) => socket.once("data", (bytes) => socket.end(bytes))));
    const { port } = await openProxied(["https://api.example.org"], { names, upstream });
    const reply = await exchange(
      port,
      Buffer.concat([Buffer.from("CONNECT api.example.org:443 HTTP/1.1\r\nHost: h\r\n\r\n"), hello]),
    );
    expect(reply).toBe(`HTTP/1.1 200 Connection Established\r\n\r\n${hello.toString("latin1")}`);
  });

  test("deliver everything that a server sends before it closes", async () => {
    const answer = Buffer.alloc(5_000_000, "y");
    const upstream = await listen(createServer((socket: Socket) => void socket.once("data", () => socket.end(answer))));
    const { port } = await openProxied(["https://api.example.org"], { names, upstream });
    const { socket } = await openTunnel(port, "api.example.org:443");
    socket.write(hello);
    let length = 0;
    socket.on("data", (bytes) => (length += bytes.length));
    await once(socket, "close");
    expect(length).toBe(answer.length);
  });

  test.each([
    ["a different server name", inRecords(clientHello({ names: ["other.example.org"] }))],
    ["no server name", inRecords(clientHello({ names: [] }))],
    ["Encrypted Client Hello", inRecords(clientHello({ names: ["api.example.org"], encrypted: true }))],
    ["a name with a NUL", inRecords(clientHello({ names: ["api.example.org\0.evil.example"] }))],
    ["a protocol other than TLS", Buffer.from("GET / HTTP/1.1\r\nHost: other.example.org\r\n\r\n")],
  ])("are closed before any byte is forwarded on %s", async (_what, bytes) => {
    const arrived: Buffer[] = [];
    const upstream = await listen(
      createServer((socket: Socket) => void socket.on("data", (part) => arrived.push(part))),
    );
    const { port, logged } = await openProxied(["https://api.example.org"], { names, upstream });
    const { socket } = await openTunnel(port, "api.example.org:443");
    const reply = once(socket, "data");
    socket.write(bytes);
    expect((await reply)[0]).toEqual(Buffer.from([21, 3, 3, 0, 2, 2, 112]));
    socket.end();
    await once(socket, "close");
    expect(arrived).toEqual([]);
    expect(logged[0]).toContain("server name");
  });

  test("log nothing if the client disconnects before it sends anything", async () => {
    const upstream = await echo();
    const { port, logged, clock } = await openProxied(["https://api.example.org"], { names, upstream });
    const { socket } = await openTunnel(port, "api.example.org:443");
    socket.end();
    while (clock.pending > 0) await new Promise(setImmediate);
    expect(logged).toEqual([]);
  });

  test("to an address that an entry names forward any bytes", async () => {
    const upstream = await echo();
    const { port } = await openProxied([`https://127.0.0.1:${upstream}`]);
    const { socket } = await openTunnel(port, `127.0.0.1:${upstream}`);
    const reply = once(socket, "data");
    socket.write("anything");
    expect(String((await reply)[0])).toBe("anything");
  });

  test.each([
    ["another port", "api.example.org:8443", "https://api.example.org:8443"],
    ["the port of plain HTTP", "api.example.org:80", "https://api.example.org:80"],
    ["another host", "example.org:443", "https://example.org"],
    ["a private address", "127.0.0.1:443", "https://127.0.0.1"],
    ["IPv6", "[::1]:443", "https://[::1]"],
  ])(
    "to %s are refused with the entry that would allow them, also in the reason phrase",
    async (_what, authority, entry) => {
      const { port, connections } = await openProxied(["https://api.example.org", "http://api.example.org"], { names });
      const { head } = await openTunnel(port, authority);
      expect(head.split("\r\n")[0]).toMatch(/^HTTP\/1\.1 403 Refused by the sandbox: /);
      expect(head.split("\r\n")[0]).toContain(`needs the entry ${entry} in`);
      expect(connections).toEqual([]);
    },
  );

  test.each([
    "api.example.org",
    "2130706433:443",
    "0x7f.1:443",
    "api.example.org:443@127.0.0.1:443",
    "a@api.example.org:443",
    "127.0.0.1%00.example.org:443",
    ":443",
  ])("are refused for CONNECT %s", async (authority) => {
    const { port, connections, lookups } = await openProxied(["https://api.example.org", "https://*.example.org"], {
      names,
    });
    expect((await openTunnel(port, authority)).head).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect([...connections, ...lookups]).toEqual([]);
  });

  test("connect to a resolved IPv6 address", async () => {
    const upstream = await echo();
    const { port, connections } = await openProxied(["https://api.example.org:8443"], {
      names: { "api.example.org": ["2606:4700::1"] },
      upstream,
    });
    expect((await openTunnel(port, "api.example.org:8443")).head).toMatch(/^HTTP\/1\.1 200 /);
    expect(connections).toEqual(["2606:4700::1:8443"]);
  });
});
