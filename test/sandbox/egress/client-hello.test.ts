import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:tls";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readClientHello } from "../../../src/sandbox/egress/client-hello.ts";
import { clientHello, inRecords } from "./client-hello.ts";

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
