import { EventEmitter, once } from "node:events";
import { type AddressInfo, type Socket, createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { SkillsError } from "../../src/base/errors.ts";
import { type Fetcher, type RemoteAnswer, type RemoteRequest, openFetcher } from "../../src/sources/fetch.ts";
import { manualClock } from "../manual-clock.ts";
import { type HostileServer, answers, openHostileServer, openWorld, publicAddress } from "./hostile-server.ts";

const signal = new AbortController().signal;
const names = { "skills.example.com": [[publicAddress]], "other.example.com": [[publicAddress]] };

function get(fetcher: Fetcher, url: string, more: Partial<RemoteRequest> = {}): Promise<RemoteAnswer> {
  return fetcher.fetch({ url, maxBytes: 1_000, timeoutMs: 10_000, ...more }, signal);
}

async function failure(fetcher: Fetcher, url: string, more: Partial<RemoteRequest> = {}): Promise<[string, string]> {
  const error = await get(fetcher, url, more).then(
    () => expect.unreachable("it should be refused"),
    (thrown: unknown) => thrown as SkillsError,
  );
  return [error.code, error.message];
}

const text = ({ body }: RemoteAnswer): string => Buffer.from(body).toString();

describe("answers", () => {
  test("are returned with any status, headers in lower case, and the URL after redirects", async () => {
    const server = await openHostileServer();
    server.on("/a", answers.redirect("/b?x=1#part"));
    server.on("/b", answers.status(429, { "Retry-After": "7", "Set-Cookie": "a=1" }, "slow down"));
    const { fetcher } = openWorld({ typed: [server.origin] });
    const answer = await get(fetcher, `${server.origin}/a`);
    expect(answer).toMatchObject({ status: 429, url: `${server.origin}/b?x=1`, headers: { "retry-after": "7" } });
    expect(text(answer)).toBe("slow down");
    await get(fetcher, `${server.origin}/a`);
    expect(server.asked.every(({ headers }) => headers.cookie === undefined)).toBe(true);
  });

  test("of POST are returned without following redirects", async () => {
    const server = await openHostileServer();
    const url = server.on("/a", answers.redirect("/b", 307));
    const { fetcher } = openWorld({ typed: [url] });
    const answer = await get(fetcher, url, { method: "POST", body: "{}", headers: { Authorization: "Bearer x" } });
    expect(answer.status).toBe(307);
    expect(server.asked).toMatchObject([
      { method: "POST", headers: { authorization: "Bearer x", "content-length": "2" } },
    ]);
  });

  test("are requested without compression, whatever the caller asks for", async () => {
    const server = await openHostileServer();
    const url = server.on("/a", answers.bytes("ok"));
    const { fetcher } = openWorld({ typed: [url] });
    await get(fetcher, url, { headers: { "Accept-Encoding": "gzip" } });
    expect(server.asked[0]?.headers["accept-encoding"]).toBe("identity");
    expect(server.asked[0]?.headers["user-agent"]).toMatch(/^acp-skills\//);
  });

  test("of no success are cut at the limit instead of refused", async () => {
    const server = await openHostileServer();
    const url = server.on("/a", answers.status(500, {}, "x".repeat(2_000)));
    const { fetcher } = openWorld({ typed: [url] });
    const answer = await get(fetcher, url);
    expect([answer.status, answer.body.length]).toEqual([500, 1_000]);
  });

  test("of exactly the limit pass", async () => {
    const server = await openHostileServer();
    const url = server.on("/a", answers.bytes("x".repeat(1_000)));
    const { fetcher } = openWorld({ typed: [url] });
    expect((await get(fetcher, url)).body).toHaveLength(1_000);
  });
});

describe("addresses", () => {
  test.each([
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://127.1/",
    "https://①②⑦.⓪.⓪.①/",
    "https://127.0.0.1./",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://10.0.0.1/",
    "https://169.254.169.254/latest",
    "https://[fd00::1]/",
    "https://[64:ff9b::7f00:1]/",
  ])("of private literals are refused without a connection: %s", async (url) => {
    const { fetcher, connections } = openWorld({});
    const [code, message] = await failure(fetcher, url);
    expect(code).toBe("ENDPOINT_UNREACHABLE");
    expect(message).toMatch(/ is a private address; if you trust it, allow it with --allow-private \S+\.$/);
    expect(connections).toEqual([]);
  });

  test.each(["https://0.0.0.0/", "https://[::]/", "https://255.255.255.255/", "https://224.0.0.1/"])(
    "that belong to no host are refused even if they are allowed: %s",
    async (url) => {
      const { fetcher, connections } = openWorld({ allowPrivate: [new URL(url).hostname] });
      expect((await failure(fetcher, url))[1]).toMatch(/belongs to no host/);
      expect(connections).toEqual([]);
    },
  );

  test("are all judged: one private among public ones refuses the name", async () => {
    const mixed = { "skills.example.com": [[publicAddress, "10.0.0.1"]] };
    const { fetcher, connections } = openWorld({ names: mixed });
    expect(await failure(fetcher, "https://skills.example.com/?token=secret")).toEqual([
      "ENDPOINT_UNREACHABLE",
      "skills.example.com resolves to a private address; if you trust it, allow it with --allow-private skills.example.com.",
    ]);
    expect(connections).toEqual([]);
  });

  test("of this machine are refused although they are public", async () => {
    const { fetcher, connections } = openWorld({ names, ownAddresses: () => [publicAddress] });
    expect((await failure(fetcher, "https://skills.example.com/"))[0]).toBe("ENDPOINT_UNREACHABLE");
    expect((await failure(fetcher, `https://${publicAddress}/`))[0]).toBe("ENDPOINT_UNREACHABLE");
    expect(connections).toEqual([]);
  });

  test("that were judged are those that are connected to, although the name changes its answer", async () => {
    const server = await openHostileServer({ secure: true });
    server.on("/", answers.bytes("ok"));
    const changing = { "skills.example.com": [[publicAddress], ["127.0.0.1"]] };
    const { fetcher, connections, lookups } = openWorld({ names: changing, server });
    expect(text(await get(fetcher, "https://skills.example.com/"))).toBe("ok");
    expect(lookups).toEqual(["skills.example.com"]);
    expect(connections).toEqual([`${publicAddress}:443`]);
  });

  test("are judged again for each new connection", async () => {
    const server = await openHostileServer({ secure: true });
    server.on("/", answers.bytes("ok", { connection: "close" }));
    const changing = { "skills.example.com": [[publicAddress], ["127.0.0.1"]] };
    const { fetcher, connections } = openWorld({ names: changing, server });
    await get(fetcher, "https://skills.example.com/");
    expect((await failure(fetcher, "https://skills.example.com/"))[1]).toContain("resolves to a private address");
    expect(connections).toEqual([`${publicAddress}:443`]);
  });

  test("that a person allowed are connected to, by name or address, with or without the port", async () => {
    const server = await openHostileServer({ secure: true });
    server.on("/", answers.bytes("ok"));
    const intern = { "intern.example.com": [["10.0.0.5"]] };
    for (const entry of ["intern.example.com", "Intern.Example.com:443"]) {
      const { fetcher, connections } = openWorld({ names: intern, server, allowPrivate: [entry] });
      expect(text(await get(fetcher, "https://intern.example.com/"))).toBe("ok");
      expect(connections).toEqual(["10.0.0.5:443"]);
      expect((await failure(fetcher, "https://10.0.0.5/"))[0]).toBe("ENDPOINT_UNREACHABLE");
    }
    const { fetcher } = openWorld({ names: intern, server, allowPrivate: ["intern.example.com:8443"] });
    expect((await failure(fetcher, "https://intern.example.com/"))[0]).toBe("ENDPOINT_UNREACHABLE");
  });

  test.each(["http://a/", "a b", "", "[::1", "10.0.0.0/8", "*.example.com", "a:0"])(
    "allowed by %j are refused as an option",
    (entry) => {
      expect(() => openFetcher({ allowPrivate: [entry] })).toThrow(/--allow-private .* is not a host; write it as/);
    },
  );

  test("of loopback are allowed only with the port of a URL that a person typed", async () => {
    const [server, other] = [await openHostileServer(), await openHostileServer()];
    server.on("/", answers.bytes("ok"));
    other.on("/", answers.bytes("secret"));
    const { fetcher, connections } = openWorld({ typed: [`${server.origin}/index`, "https://skills.example.com"] });
    expect(text(await get(fetcher, `${server.origin}/`))).toBe("ok");
    expect(await failure(fetcher, `${other.origin}/`)).toEqual([
      "ENDPOINT_UNREACHABLE",
      `127.0.0.1 is a private address; if you trust it, allow it with --allow-private 127.0.0.1:${other.port}.`,
    ]);
    expect(connections).toEqual([`127.0.0.1:${server.port}`]);
    expect(other.asked).toEqual([]);
  });

  test("of IPv6 are judged and connected to like others", async () => {
    const server = await openHostileServer();
    server.on("/", answers.bytes("ok"));
    const { fetcher, connections } = openWorld({ typed: [`http://[0:0::1]:${server.port}/`] });
    expect(text(await get(fetcher, `http://[::1]:${server.port}/`))).toBe("ok");
    expect(connections).toEqual([`::1:${server.port}`]);
    expect((await failure(fetcher, "http://[::1]:1/"))[1]).toContain("--allow-private [::1]:1");
  });

  test("of localhost must be on this machine", async () => {
    const { fetcher, connections } = openWorld({
      typed: ["http://localhost:8080/"],
      names: { localhost: [["10.0.0.1"]] },
    });
    expect((await failure(fetcher, "http://localhost:8080/"))[1]).toBe("localhost is not on this machine.");
    expect((await failure(fetcher, "http://localhost:8081/"))[1]).toContain("--allow-private localhost:8081");
    expect(connections).toEqual([]);
  });

  test.each([
    ["http://skills.example.com/?token=secret", "skills.example.com is not asked over http"],
    ["http://10.0.0.5/", "10.0.0.5 is not asked over http"],
    ["ftp://skills.example.com/", "A URL with ftp: cannot be fetched"],
    ["file:///etc/passwd", "A URL with file: cannot be fetched"],
    ["https://me:secret@skills.example.com/", "contains a user name or a password; remove it"],
    ["https://a_b..example.com/", "is not a valid host"],
    ["not a URL with secret", "A URL is invalid"],
  ])("are not even looked up for %s", async (url, reason) => {
    const { fetcher, lookups } = openWorld({ names, allowPrivate: ["10.0.0.5"] });
    const [code, message] = await failure(fetcher, url);
    expect(code).toBe("ENDPOINT_UNREACHABLE");
    expect(message).toContain(reason);
    expect(message).not.toContain("secret");
    expect(lookups).toEqual([]);
  });

  test("that are unknown or do not answer are errors which name the host only", async () => {
    const { fetcher } = openWorld({ names });
    expect(await failure(fetcher, "https://unknown.example.com/a?token=secret")).toEqual([
      "ENDPOINT_UNREACHABLE",
      "unknown.example.com cannot be resolved.",
    ]);
    expect(await failure(fetcher, "https://skills.example.com:8443/a?token=secret")).toEqual([
      "ENDPOINT_UNREACHABLE",
      "connection refused by skills.example.com:8443.",
    ]);
  });
});

describe("redirects", () => {
  async function redirecting(): Promise<{ server: HostileServer; base: string }> {
    return { server: await openHostileServer({ secure: true }), base: "https://skills.example.com" };
  }

  test.each([
    ["http://skills.example.com/next", "redirects to a URL with http:; only https: is followed"],
    ["https://10.0.0.1/next", "redirects to a URL that is refused: 10.0.0.1 is a private address"],
    ["https://169.254.169.254/latest", "redirects to a URL that is refused: 169.254.169.254 is a private address"],
    ["https://[::1]/next", "redirects to a URL that is refused: [::1] is a private address"],
    ["https://0x7f.1/next", "redirects to a URL that is refused: 127.0.0.1 is a private address"],
    [
      "https://intern.example.com/next",
      "redirects to the private host intern.example.com, which a public host must not do",
    ],
    ["https://hidden.example.com/next", "hidden.example.com resolves to a private address"],
    ["file:///etc/passwd", "redirects to a URL with file:"],
    ["https://", "redirects to an invalid URL"],
  ])("to %s are refused", async (location, reason) => {
    const { server, base } = await redirecting();
    server.on("/", answers.redirect(location));
    server.on("/next", answers.bytes("secret"));
    const inside = { "intern.example.com": [["10.0.0.5"]], "hidden.example.com": [["10.0.0.6"]] };
    const { fetcher, connections } = openWorld({
      names: { ...names, ...inside },
      server,
      allowPrivate: ["intern.example.com"],
    });
    const [code, message] = await failure(fetcher, `${base}/?token=secret`);
    expect(code).toBe("ENDPOINT_UNREACHABLE");
    expect(message).toContain(reason);
    expect(message).not.toContain("secret");
    expect(connections).toEqual([`${publicAddress}:443`]);
  });

  test("to a typed server on loopback are refused if a public host sends them", async () => {
    const { server, base } = await redirecting();
    const here = await openHostileServer();
    server.on("/", answers.redirect(`${here.origin.replace("http:", "https:")}/`));
    const { fetcher } = openWorld({ names, server, typed: [here.origin] });
    expect((await failure(fetcher, `${base}/`))[1]).toContain("which a public host must not do");
    expect(here.asked).toEqual([]);
  });

  test("keep credentials on their origin, and lose them for good elsewhere", async () => {
    const { server, base } = await redirecting();
    server.on("/a", answers.redirect("/b"));
    server.on("/b", answers.redirect("https://other.example.com/c"));
    server.on("/c", answers.redirect(`${base}/d`));
    server.on("/d", answers.bytes("ok"));
    const { fetcher } = openWorld({ names, server });
    const headers = { Authorization: "Bearer x", "X-Api-Key": "y", Accept: "text/plain" };
    await get(fetcher, `${base}/a`, { headers });
    const sent = server.asked.map(({ url, headers: { authorization, accept, "x-api-key": key } }) => [
      url,
      authorization,
      key,
      accept,
    ]);
    expect(sent).toEqual([
      ["/a", "Bearer x", "y", "text/plain"],
      ["/b", "Bearer x", "y", "text/plain"],
      ["/c", undefined, undefined, "text/plain"],
      ["/d", undefined, undefined, "text/plain"],
    ]);
  });

  test("are followed five times", async () => {
    const { server, base } = await redirecting();
    for (const step of [1, 2, 3, 4, 5, 6]) server.on(`/${step}`, answers.redirect(`/${step + 1}`));
    server.on("/7", answers.bytes("ok"));
    const { fetcher } = openWorld({ names, server });
    expect(text(await get(fetcher, `${base}/2`))).toBe("ok");
    expect(await failure(fetcher, `${base}/1`)).toEqual([
      "ENDPOINT_UNREACHABLE",
      "skills.example.com redirects more than 5 times.",
    ]);
  });
});

describe("limits", () => {
  test.each([
    ["silent", answers.silent],
    ["stalled in its body", answers.stalled],
    ["dripping byte by byte", answers.dripping],
  ])("of time end a request to a server that is %s", async (_what, answer) => {
    const server = await openHostileServer();
    const clock = manualClock();
    const url = server.on("/a", answer);
    const { fetcher } = openWorld({ typed: [url], clock });
    const failed = failure(fetcher, `${url}?token=secret`, { timeoutMs: 30_000, maxBytes: 1_000_000 });
    await server.arrived("/a");
    clock.pass(30_000);
    expect(await failed).toEqual([
      "EXECUTION_TIMEOUT",
      `127.0.0.1:${server.port} did not answer completely within 30 s; try again.`,
    ]);
    expect(clock.pending).toBe(0);
  });

  test("of time cover all redirects together", async () => {
    const server = await openHostileServer();
    const clock = manualClock();
    server.on("/a", (_request, response) => {
      clock.pass(20_000);
      response.writeHead(302, { location: "/b" }).end();
    });
    server.on("/b", () => clock.pass(10_000));
    const { fetcher } = openWorld({ typed: [server.origin], clock });
    expect((await failure(fetcher, `${server.origin}/a`, { timeoutMs: 30_000 }))[0]).toBe("EXECUTION_TIMEOUT");
    expect(server.asked).toHaveLength(2);
  });

  test("of time cover a name that is never resolved", async () => {
    const clock = manualClock();
    let asked = (): void => undefined;
    const looking = new Promise<void>((resolve) => (asked = resolve));
    const fetcher = openFetcher({
      allowPrivate: [],
      clock,
      resolve: () => {
        asked();
        return new Promise(() => undefined);
      },
    });
    const failed = failure(fetcher, "https://slow.example.com/", { timeoutMs: 5_000 });
    await looking;
    clock.pass(5_000);
    expect((await failed)[0]).toBe("EXECUTION_TIMEOUT");
    await fetcher.close();
  });

  test.each([
    ["announced", answers.bytes("x".repeat(1_001)), "1000 bytes"],
    ["endless", answers.endlessly(200), "1000 bytes"],
  ])("of bytes end an answer that is %s", async (_what, answer) => {
    const server = await openHostileServer();
    const url = server.on("/a", answer);
    const { fetcher } = openWorld({ typed: [url] });
    expect(await failure(fetcher, url)).toEqual([
      "FILE_TOO_LARGE",
      `127.0.0.1:${server.port} sent more than 1000 bytes, the limit for this answer.`,
    ]);
  });

  test.each([
    ["huge headers", answers.status(200, { big: "x".repeat(20_000) }), "answered with headers of more than 16 KiB"],
    ["no HTTP", answers.raw("SSH-2.0-OpenSSH\r\n"), "gave an answer that is not valid HTTP"],
    ["nothing", answers.raw(""), "closed the connection before the answer was complete; try again"],
    ["half of a body", answers.truncated(Buffer.alloc(100)), "closed the connection before the answer was complete"],
    [
      "both length headers",
      answers.raw("HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
      "gave an answer that is not valid HTTP",
    ],
    [
      "an invalid chunk",
      answers.raw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"),
      "gave an answer that is not valid HTTP",
    ],
  ])("hold when the server sends %s", async (_what, answer, reason) => {
    const server = await openHostileServer();
    const url = server.on("/a", answer);
    const { fetcher } = openWorld({ typed: [url] });
    const [code, message] = await failure(fetcher, `${url}?token=secret`);
    expect(code).toBe("ENDPOINT_UNREACHABLE");
    expect(message).toContain(`127.0.0.1:${server.port} ${reason}`);
    expect(message).not.toContain("secret");
  });

  test.each(["gzip", "br", "x-unknown", "gzip, gzip"])(
    "refuse an answer that is compressed with %s",
    async (coding) => {
      const server = await openHostileServer();
      const url = server.on("/a", answers.bytes("x", { "content-encoding": coding }));
      const { fetcher } = openWorld({ typed: [url] });
      const [code, message] = await failure(fetcher, url);
      expect(code).toBe("SOURCE_INVALID");
      expect(message).toContain("sent a compressed answer (Content-Encoding) although identity was requested");
    },
  );
});

describe("TLS", () => {
  test("certificates are checked against the name", async () => {
    const server = await openHostileServer({ secure: true });
    server.on("/", answers.bytes("ok"));
    const { fetcher } = openWorld({ names: { "skills.other.example": [[publicAddress]] }, server });
    const [code, message] = await failure(fetcher, "https://skills.other.example/");
    expect(code).toBe("ENDPOINT_UNREACHABLE");
    expect(message).toMatch(/^skills\.other\.example has no valid TLS certificate \(.*\); .* NODE_EXTRA_CA_CERTS\.$/);
    expect(server.asked).toEqual([]);
  });

  test("certificates of unknown authorities are refused", async () => {
    const server = await openHostileServer({ secure: true });
    const fetcher = openFetcher({ allowPrivate: [], typed: [server.origin] });
    expect((await failure(fetcher, server.origin))[1]).toContain("has no valid TLS certificate");
    await fetcher.close();
  });

  test("certificates of addresses are checked as well", async () => {
    const server = await openHostileServer({ secure: true });
    const url = server.on("/", answers.bytes("ok"));
    const { fetcher } = openWorld({ typed: [url, `https://127.0.0.2:${server.port}/`] });
    expect(text(await get(fetcher, url))).toBe("ok");
    expect((await failure(fetcher, `https://127.0.0.2:${server.port}/`))[1]).toContain("has no valid TLS certificate");
  });

  test("a handshake without an answer ends with the deadline, or with the fetcher", async () => {
    const sockets: Socket[] = [];
    const arrived = new EventEmitter();
    const silent = createServer((socket) => {
      socket.on("error", () => undefined);
      sockets.push(socket);
      socket.once("data", () => arrived.emit("hello"));
    });
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => void silent.close());
    const clock = manualClock();
    const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const { fetcher } = openWorld({ typed: [url], clock });
    const hello = once(arrived, "hello");
    const failed = failure(fetcher, url, { timeoutMs: 5_000 });
    await hello;
    clock.pass(5_000);
    expect((await failed)[0]).toBe("EXECUTION_TIMEOUT");
    expect(sockets[0]?.destroyed).toBe(false);
    const ended = once(sockets[0]!, "close");
    await fetcher.close();
    await ended;
  });

  test("a server that does not speak it is an error", async () => {
    const server = await openHostileServer();
    const { fetcher } = openWorld({ names, server });
    const [code, message] = await failure(fetcher, "https://skills.example.com/");
    expect(code).toBe("ENDPOINT_UNREACHABLE");
    expect(message).toContain("has no valid TLS certificate");
  });
});

test("many requests at a time cause no warnings, and four connections to a host", async () => {
  const server = await openHostileServer({ secure: true });
  server.on("/", answers.bytes("ok"));
  const warnings: Error[] = [];
  const warn = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warn);
  const { fetcher, connections } = openWorld({ names, server });
  const requests = Array.from({ length: 40 }, () => get(fetcher, "https://skills.example.com/"));
  expect((await Promise.all(requests)).map(({ status }) => status)).toEqual(requests.map(() => 200));
  await new Promise(setImmediate);
  process.off("warning", warn);
  expect(warnings).toEqual([]);
  expect(connections).toHaveLength(4);
});

describe("the end", () => {
  test("an aborted request rejects with the reason, before and during the answer", async () => {
    const server = await openHostileServer();
    const url = server.on("/a", answers.stalled);
    const { fetcher } = openWorld({ typed: [url] });
    const left = new AbortController();
    const reason = new Error("left");
    const request = { url, maxBytes: 10, timeoutMs: 60_000 };
    const failed = fetcher.fetch(request, left.signal).catch((error: unknown) => error);
    await server.arrived("/a");
    left.abort(reason);
    expect(await failed).toBe(reason);
    await expect(fetcher.fetch(request, left.signal)).rejects.toBe(reason);
    expect(server.asked).toHaveLength(1);
  });

  test("close ends running requests and refuses later ones", async () => {
    const server = await openHostileServer();
    const url = server.on("/a", answers.silent);
    const { fetcher } = openWorld({ typed: [url] });
    const failed = failure(fetcher, url);
    await server.arrived("/a");
    await fetcher.close();
    await fetcher.close();
    expect(await failed).toEqual(["CLOSED", "The fetcher is closed."]);
    expect((await failure(fetcher, url))[0]).toBe("CLOSED");
  });
});
