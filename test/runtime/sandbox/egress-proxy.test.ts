import { once } from "node:events";
import { Socket, connect, createServer } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exchange, get, listen, listenHttp, openProxied, openTunnel, publicAddress } from "./egress-proxy/proxied.ts";

const names = { "api.example.org": [publicAddress] };

describe("plain requests", () => {
  test("go to the checked address with the checked Host header", async () => {
    const { port: upstream, asked } = await listenHttp();
    const { port, connections } = await openProxied(["http://api.example.org"], { names, upstream });
    expect(await exchange(port, get("http://API.example.org./a?b=c"))).toMatch(/^HTTP\/1\.1 200 OK\r\n.*hello/s);
    expect(connections).toEqual([`${publicAddress}:80`]);
    expect(asked[0]).toMatchObject({ url: "/a?b=c", headers: { host: "api.example.org" } });
    expect(asked[0]?.headersDistinct["host"]).toHaveLength(1);
  });

  test("reach a server on loopback that an entry names by address", async () => {
    const { port: upstream, asked } = await listenHttp();
    const { port } = await openProxied([`http://127.0.0.1:${upstream}`]);
    expect(await exchange(port, get(`http://127.0.0.1:${upstream}/`))).toContain("hello");
    expect(asked[0]?.headers.host).toBe(`127.0.0.1:${upstream}`);
  });

  test("to other hosts are refused with the entry that would allow them, not resolved, and logged once", async () => {
    const { port, lookups, connections, logged } = await openProxied(["http://api.example.org"], { names });
    for (const url of ["http://other.example:8080/", "http://other.example:8080/again"]) {
      const reply = await exchange(port, get(url));
      expect(reply).toMatch(
        /^HTTP\/1\.1 403 [^\r]*needs the entry http:\/\/other\.example:8080 in permissions\.network\r\n/,
      );
      expect(reply).toContain("needs the entry http://other.example:8080 in permissions.network.\n");
    }
    expect([...lookups, ...connections]).toEqual([]);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain("http://other.example:8080");
  });

  test("that follow a redirect are checked like any other", async () => {
    const { port: upstream, asked } = await listenHttp((_request, response) => {
      response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data/" }).end();
    });
    const { port, connections } = await openProxied(["http://api.example.org"], { names, upstream });
    const reply = await exchange(port, get("http://api.example.org/"));
    const location = /location: (\S+)/i.exec(reply)?.[1] ?? "";
    expect(location).toContain("169.254");
    expect(await exchange(port, get(location))).toMatch(/^HTTP\/1\.1 403 /);
    expect(asked).toHaveLength(1);
    expect(connections).toHaveLength(1);
  });

  test.each([
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://127.0.0.1./",
    "http://127.0.0.1/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[fe80::1%25lo]/",
    "http://%31%32%37.0.0.1/",
    "http://api.example.org@127.0.0.1/",
    "http://api.example.org:80@127.0.0.1/",
    "http://api.example.org#@127.0.0.1/",
    "http://127.0.0.1\\@api.example.org/",
    "http://0/",
    "http://0.0.0.0/",
    "http://169.254.169.254/",
    "http://user@api.example.org/",
    "http://\u00a5api.example.org/",
  ])("are refused for %s", async (url) => {
    const { port, connections, lookups } = await openProxied(["http://api.example.org"], { names });
    expect(await exchange(port, get(url))).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect([...connections, ...lookups]).toEqual([]);
  });

  test.each(["/", "*", "api.example.org", "https://api.example.org/", "ftp://api.example.org/"])(
    "are rejected as bad requests for %s",
    async (url) => {
      const { port, connections } = await openProxied(["http://api.example.org", "https://api.example.org"], { names });
      expect(await exchange(port, get(url))).toMatch(/^HTTP\/1\.1 400 /);
      expect(connections).toEqual([]);
    },
  );

  test("never cause a connection that no entry allows, whatever the host", async () => {
    const { port, connections } = await openProxied(["http://api.example.org"], {
      names: { localhost: ["127.0.0.1"] },
    });
    const piece = fc.constantFrom(
      "127.0.0.1",
      "[::1]",
      "localhost",
      "api.example.org",
      "@",
      ":",
      "80",
      "%00",
      "\\",
      "#",
      "?",
      "/",
      ".",
      "0x7f",
      " ",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 5 }), async (pieces) => {
        await exchange(port, get(`http://${pieces.join("")}`));
        expect(connections).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

describe("names", () => {
  test.each([
    ["loopback", ["127.0.0.1"]],
    ["IPv6 loopback", ["::1"]],
    ["a mapped address", ["::ffff:10.0.0.1"]],
    ["the cloud metadata address", ["169.254.169.254"]],
    ["a unique local address", ["fd00:ec2::254"]],
    ["NAT64", ["64:ff9b::a9fe:a9fe"]],
    ["a link-local address with a zone", ["fe80::1%eth0"]],
    ["one private address among public ones", [publicAddress, "10.0.0.1"]],
    ["text that is not an address", ["evil"]],
  ])("that resolve to %s are refused without a connection", async (_what, addresses) => {
    const { port, connections, logged } = await openProxied(["http://*.example.org", "https://*.example.org"], {
      names: { "x.example.org": addresses },
    });
    const reply = await exchange(port, get("http://x.example.org/"));
    expect(reply).toMatch(/^HTTP\/1\.1 403 [^\r]*resolves to a private address/);
    expect(reply).not.toContain(addresses.at(-1));
    expect((await openTunnel(port, "x.example.org:443")).head).toMatch(/^HTTP\/1\.1 403 /);
    expect(connections).toEqual([]);
    expect(logged[0]).toContain("x.example.org");
  });

  test("that resolve to a public address of this machine are refused", async () => {
    const { port, connections } = await openProxied(["http://api.example.org"], {
      names,
      ownAddresses: () => [publicAddress],
    });
    expect(await exchange(port, get("http://api.example.org/"))).toMatch(/^HTTP\/1\.1 403 /);
    expect(connections).toEqual([]);
  });

  test("are resolved once per request, so DNS rebinding cannot change the checked address", async () => {
    const { port: upstream } = await listenHttp();
    const answers = [[publicAddress], ["127.0.0.1"], [publicAddress]];
    let lookups = 0;
    const { port, connections } = await openProxied(["http://x.example.org"], {
      upstream,
      resolve: () => Promise.resolve(answers[lookups++] ?? []),
    });
    expect(await exchange(port, get("http://x.example.org/"))).toMatch(/^HTTP\/1\.1 200 /);
    expect(lookups).toBe(1);
    expect(await exchange(port, get("http://x.example.org/"))).toMatch(/^HTTP\/1\.1 403 /);
    expect(connections).toEqual([`${publicAddress}:80`]);
  });

  test("are tried at each resolved address", async () => {
    const { port: upstream } = await listenHttp();
    const tried: string[] = [];
    const { port } = await openProxied(["http://x.example.org"], {
      names: { "x.example.org": ["2606:4700::1", publicAddress] },
      connect: (address) => {
        tried.push(address);
        const refusing = connect({ host: "127.0.0.1", port: upstream });
        if (address.includes(":")) refusing.destroy(new Error("no route"));
        return refusing;
      },
    });
    expect(await exchange(port, get("http://x.example.org/"))).toMatch(/^HTTP\/1\.1 200 /);
    expect(tried).toEqual(["2606:4700::1", publicAddress]);
  });

  test("that cannot be resolved or reached give 502 with the reason in the status line", async () => {
    const { port } = await openProxied(
      ["http://gone.example.org", "http://api.example.org", "https://api.example.org"],
      {
        names,
        connect: () => connect({ host: "127.0.0.1", port: 1 }),
      },
    );
    expect(await exchange(port, get("http://gone.example.org/"))).toMatch(/^HTTP\/1\.1 502 .*cannot be resolved/s);
    const refused = (at: number): RegExp => new RegExp(`^HTTP/1.1 502 connection refused by api.example.org:${at}\r`);
    expect(await exchange(port, get("http://api.example.org/"))).toMatch(refused(80));
    expect((await openTunnel(port, "api.example.org:443")).head).toMatch(refused(443));
  });
});

describe("HTTP framing", () => {
  test("hop-by-hop headers, headers named by `connection` and proxy credentials are not forwarded", async () => {
    const { port: upstream, asked } = await listenHttp((_request, response) => {
      response
        .writeHead(200, { "keep-alive": "timeout=9", "proxy-authenticate": "Basic", "x-kept": ["1", "2"] })
        .end("hello");
    });
    const { port } = await openProxied(["http://api.example.org"], { names, upstream });
    const reply = await exchange(
      port,
      "GET http://api.example.org/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close, X-Private, host\r\nX-Private: 1\r\n" +
        "Proxy-Authorization: Basic secret\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\nKeep-Alive: 5\r\nX-Kept: a\r\nX-Kept: b\r\n\r\n",
    );
    expect(Object.keys(asked[0]?.headers ?? {}).sort()).toEqual(["connection", "host", "x-kept"]);
    expect(asked[0]?.headersDistinct["x-kept"]).toEqual(["a", "b"]);
    expect(asked[0]?.headers.host).toBe("api.example.org");
    expect(reply).toMatch(/x-kept: 1\r\nx-kept: 2\r\n/);
    expect(reply).not.toMatch(/proxy-authenticate|timeout=9/);
  });

  const inner = "GET /smuggled HTTP/1.1\r\nHost: other.example\r\n\r\n";
  const chunk = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
  test.each([
    [
      "a body whose length is named by `connection`",
      `GET URL HTTP/1.1\r\nHost: h\r\nConnection: content-length\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
      inner,
    ],
    [
      "chunks that are named by `connection`",
      `GET URL HTTP/1.1\r\nHost: h\r\nConnection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
      inner,
    ],
    ["a chunked body of a GET", `GET URL HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`, inner],
    [
      "a chunked body of a DELETE",
      `DELETE URL HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n${chunk}`,
      inner,
    ],
    [
      "a body after thousands of headers",
      `GET URL HTTP/1.1\r\nHost: h\r\n${"a:\r\n".repeat(3000)}Transfer-Encoding: chunked\r\n\r\n${chunk}`,
      inner,
    ],
    ["no body at all", "POST URL HTTP/1.1\r\nHost: h\r\n\r\n", ""],
    [
      "a length and chunks",
      `POST URL HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
      undefined,
    ],
    [
      "two lengths",
      `POST URL HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
      undefined,
    ],
    ["a bare line feed", `POST URL HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n0\n\n${inner}`, undefined],
    [
      "a space before the colon",
      `POST URL HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
      undefined,
    ],
    [
      "another transfer coding",
      `POST URL HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
      undefined,
    ],
  ])("%s: either exactly one request with that body arrives, or none", async (_what, raw, body) => {
    const bodies: string[] = [];
    const { port: upstream, asked } = await listenHttp((request, response) => {
      request.setEncoding("latin1").on("data", (part: string) => bodies.push(part));
      request.on("end", () => response.end("hello"));
    });
    const { port } = await openProxied(["http://api.example.org"], { names, upstream });
    const socket = connect({ host: "127.0.0.1", port });
    const reply = once(socket, "data");
    socket.write(raw.replace("URL", "http://api.example.org/"));
    const answer = String((await reply)[0]);
    socket.destroy();
    // Newer versions of Node also limit the number of headers.
    const arrives = body !== undefined && !answer.startsWith("HTTP/1.1 431 ");
    expect(answer).toMatch(arrives ? /^HTTP\/1\.1 200 / : /^HTTP\/1\.1 [45]/);
    expect(asked.map(({ url }) => url)).toEqual(arrives ? ["/"] : []);
    expect(bodies.join("")).toBe(arrives ? body : "");
  });

  test("a pipelined request ends the connection", async () => {
    const { port: upstream, asked } = await listenHttp(() => undefined);
    const { port } = await openProxied(["http://api.example.org"], { names, upstream });
    expect(
      await exchange(
        port,
        get("http://api.example.org/").replace("close", "keep-alive"),
        get("http://api.example.org/2"),
      ),
    ).toBe("");
    expect(asked.filter(({ url }) => url === "/2")).toEqual([]);
  });

  test("consecutive requests share a connection", async () => {
    const { port: upstream, asked } = await listenHttp();
    const { port, server } = await openProxied(["http://api.example.org"], { names, upstream });
    let accepted = 0;
    server.on("connection", () => (accepted += 1));
    const socket = connect({ host: "127.0.0.1", port });
    for (const path of ["/1", "/2", "/3"]) {
      socket.write(get(`http://api.example.org${path}`).replace("close", "keep-alive"));
      let received = "";
      while (!received.endsWith("hello") && !received.endsWith("0\r\n\r\n")) {
        received += ((await once(socket, "data")) as [Buffer])[0].toString();
      }
    }
    socket.destroy();
    expect(asked.map(({ url }) => url)).toEqual(["/1", "/2", "/3"]);
    expect(accepted).toBe(1);
  });

  test("an upgrade is refused", async () => {
    const { port, connections } = await openProxied(["http://api.example.org"], { names });
    const reply = await exchange(
      port,
      get("http://api.example.org/", ["Upgrade: websocket"]).replace("close", "upgrade, close"),
    );
    expect(reply).toMatch(/^HTTP\/1\.1 501 /);
    expect(connections).toEqual([]);
  });

  test("large bodies are forwarded in both directions", async () => {
    const { port: upstream } = await listenHttp((request, response) => void request.pipe(response));
    const { port } = await openProxied(["http://api.example.org"], { names, upstream });
    const body = "x".repeat(3_000_000);
    const head = `POST http://api.example.org/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
    const reply = await exchange(port, head, body);
    expect(reply).toMatch(/^HTTP\/1\.1 200 /);
    expect(reply.replaceAll(/[^x]/g, "").length).toBe(body.length);
  });

  test("a response that is not HTTP gives 502, and a truncated response stays truncated", async () => {
    const garbage = await listen(createServer((socket: Socket) => void socket.end("SSH-2.0-x\r\n")));
    const broken = await listen(
      createServer((socket: Socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")),
    );
    const { port } = await openProxied([`http://127.0.0.1:${garbage}`, `http://127.0.0.1:${broken}`]);
    expect(await exchange(port, get(`http://127.0.0.1:${garbage}/`))).toMatch(/^HTTP\/1\.1 502 /);
    expect(await exchange(port, get(`http://127.0.0.1:${broken}/`))).toMatch(/^HTTP\/1\.1 200 .*half$/s);
  });
});

describe("limits", () => {
  test("headers of more than 16 KiB are refused", async () => {
    const { port, connections } = await openProxied(["http://api.example.org"], { names });
    const reply = await exchange(port, get("http://api.example.org/", [`X: ${"x".repeat(20_000)}`]));
    expect(reply).toMatch(/^HTTP\/1\.1 431 /);
    expect(connections).toEqual([]);
  });

  test("the 65th connection is dropped", async () => {
    const { port, server } = await openProxied(["http://api.example.org"], { names });
    const sockets = Array.from({ length: 64 }, () => connect({ host: "127.0.0.1", port }));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    const dropped = once(server, "drop");
    const last = connect({ host: "127.0.0.1", port }).on("error", () => undefined);
    await Promise.all([dropped, once(last, "close")]);
    for (const socket of sockets) socket.destroy();
  });

  test("a connection is closed after it has been idle for a minute", async () => {
    const { port, clock } = await openProxied(["http://api.example.org"], { names });
    const socket = connect({ host: "127.0.0.1", port }).on("error", () => undefined);
    const reply = once(socket, "data");
    socket.write(get("http://other.example/").replace("close", "keep-alive"));
    await reply;
    clock.pass(60_000);
    expect(clock.pending).toBe(1);
    const ended = once(socket, "close");
    clock.pass(60_000);
    await ended;
    expect(clock.pending).toBe(0);
  });

  test("name resolution and connection attempts time out", async () => {
    const never = new Promise<string[]>(() => undefined);
    const { port, clock } = await openProxied(["http://slow.example.org", "http://api.example.org"], {
      resolve: (name) => (name.startsWith("slow") ? never : Promise.resolve([publicAddress, publicAddress])),
      connect: () => new Socket(),
    });
    const timers = async (count: number): Promise<void> => {
      while (clock.pending !== count) await new Promise(setImmediate);
    };
    const slow = exchange(port, get("http://slow.example.org/"));
    await timers(2);
    clock.pass(10_000);
    expect(await slow).toMatch(/^HTTP\/1\.1 502 .*cannot be resolved/s);
    await timers(0);
    const unanswered = exchange(port, get("http://api.example.org/"));
    await timers(2);
    clock.pass(4_000);
    await timers(2);
    clock.pass(4_000);
    expect(await unanswered).toMatch(/^HTTP\/1\.1 502 .*cannot be reached/s);
  });

  test("close ends every connection and the server, and may be called twice", async () => {
    const { port: upstream } = await listenHttp(() => undefined);
    const { port, proxy, server } = await openProxied(["http://api.example.org"], { names, upstream });
    const waiting = exchange(port, get("http://api.example.org/"));
    await once(server, "connection");
    await proxy.close();
    expect(await waiting).toBe("");
    expect(server.listening).toBe(false);
    await proxy.close();
  });
});

test("logs at most 20 refusals", async () => {
  const { port, logged } = await openProxied([]);
  for (let count = 0; count < 25; count += 1) await exchange(port, get(`http://n${count}.example/`));
  expect(logged).toHaveLength(20);
  expect(logged.at(-1)).toContain("not logged");
});

test("rejects an invalid entry when it is opened", async () => {
  await expect(openProxied(["https://*"])).rejects.toMatchObject({ code: "INVALID_OPTIONS" });
});
