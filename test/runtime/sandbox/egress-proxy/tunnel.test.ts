import { once } from "node:events";
import { type AddressInfo, type Socket, createServer } from "node:net";
import { connect } from "node:tls";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clientHello, inRecords } from "./client-hello.ts";
import { exchange, listen, openProxied, openTunnel, publicAddress } from "./proxied.ts";
import { readClientHello } from "../../../../src/runtime/sandbox/egress-proxy/tunnel.ts";

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

/** The first bytes that a real TLS client sends. */
async function firstBytes(servername: string): Promise<Buffer> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect({ host: "127.0.0.1", port, servername }).on("error", () => undefined);
  const [socket] = (await once(server, "connection")) as [Socket];
  const [bytes] = (await once(socket, "data")) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  return bytes;
}

describe("readClientHello", () => {
  test("reads the server name of a real client", async () => {
    expect(readClientHello(await firstBytes("api.example.org"))).toEqual({
      type: "read",
      serverName: "api.example.org",
      encrypted: false,
    });
  });

  test("reads a hello without a server name", async () => {
    expect(readClientHello(await firstBytes(""))).toMatchObject({ type: "read", serverName: undefined });
  });

  test("reports every prefix as incomplete, and reads the whole", () => {
    fc.assert(
      fc.property(fc.domain(), (name) => {
        const whole = inRecords(clientHello({ names: [name] }));
        for (let length = 0; length < whole.length; length += 1) {
          expect(readClientHello(whole.subarray(0, length)).type).toBe("incomplete");
        }
        expect(readClientHello(whole)).toMatchObject({ type: "read", serverName: name });
        const followed = Buffer.concat([whole, Buffer.from("anything")]);
        expect(readClientHello(followed)).toMatchObject({ type: "read", serverName: name });
      }),
      { numRuns: 20 },
    );
  });

  test("reports Encrypted Client Hello", () => {
    const hello = inRecords(clientHello({ names: ["a.example"], encrypted: true }));
    expect(readClientHello(hello)).toMatchObject({ serverName: "a.example", encrypted: true });
  });

  test.each([
    ["plain HTTP", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
    ["one wrong byte", Buffer.from([0])],
    ["SSL 2", Buffer.from([0x80, 0x2e, 1, 3, 1])],
    ["another record", Buffer.from([23, 3, 3, 0, 1, 0])],
    ["another message", inRecords(Buffer.from([2, 0, 0, 1, 0]))],
    ["an empty record", Buffer.from([22, 3, 1, 0, 0])],
    ["a message of 16 MiB", inRecords(Buffer.from([1, 255, 255, 255, 0]))],
    ["a ClientHello in several records", inRecords(clientHello({ names: ["a.example"] }), 50)],
    ["two names in one extension", inRecords(clientHello({ names: ["a.example", "b.example"] }))],
    ["two extensions with a name", inRecords(clientHello({ names: ["a.example"], again: "b.example" }))],
    ["wrong lengths", inRecords(Buffer.concat([Buffer.from([1, 0, 0, 40]), Buffer.alloc(40, 255)]))],
  ])("rejects %s", (_what, bytes) => {
    expect(readClientHello(bytes)).toEqual({ type: "invalid" });
  });

  test("does not throw for random bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, asMessage) => {
        const message = Buffer.concat([Buffer.from([1, 0, 0, bytes.length]), bytes]);
        expect(["incomplete", "invalid", "read"]).toContain(
          readClientHello(asMessage ? inRecords(message) : Buffer.from(bytes)).type,
        );
      }),
    );
  });
});
