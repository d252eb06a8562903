import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import type { SecretRequest } from "../../../../src/runtime/sandbox.ts";
import { requestLimits } from "../../../../src/runtime/sandbox/frames.ts";
import { type SentSecret, openSecretRequests } from "../../../../src/runtime/runs/execute/secret-requests.ts";
import { checkRequest } from "../../../../src/runtime/runs/execute/checked-request.ts";
import { type FetcherOptions, openFetcher } from "../../../../src/sources/fetch.ts";
import type { RunStep } from "../../../../src/wire/run-event.ts";
import { type Answer, answers, openHostileServer, publicAddress } from "../../../sources/hostile-server.ts";
import { testCertificate } from "../../../sources/test-certificate.ts";

const value = 'ghp_s3cr3t/val"ue+0123';
const secret: SentSecret = {
  name: "GH_TOKEN",
  value,
  header: "authorization",
  scheme: "Bearer",
  hosts: ["api.example.com"],
};
const never = new AbortController().signal;

function requestTo(url: string, more: Partial<SecretRequest> = {}): SecretRequest {
  return { url, method: "GET", headers: [], body: new Uint8Array(), secret: "GH_TOKEN", ...more };
}

/** Every name has the same public address, where the servers of the test are. */
const world: FetcherOptions = {
  allowPrivate: [],
  ownAddresses: () => [],
  certificateAuthority: testCertificate.cert,
  resolve: () => Promise.resolve([publicAddress]),
  connect: (_address, port) => connect({ host: "127.0.0.1", port }),
};

interface Given {
  readonly secrets?: readonly SentSecret[];
  readonly network?: Partial<FetcherOptions>;
  readonly deadlineMs?: number;
}

/** Requests of one run to https servers on loopback, where every name leads to a public address that is theirs. */
function open({ secrets = [secret], network, deadlineMs = 60_000 }: Given = {}) {
  const steps: RunStep[] = [];
  const requests = openSecretRequests({
    secrets,
    open: (typed) => Promise.resolve(openFetcher({ ...world, typed, ...network })),
    clock: systemClock,
    deadline: systemClock.now() + deadlineMs,
    notify: (step) => steps.push(step),
  });
  onTestFinished(() => requests.close());
  return { requests, steps, ask: (request: SecretRequest, signal = never) => requests.fetch(request, signal) };
}

/** A server with these paths, and a secret that is sent to it. */
async function serving(paths: Readonly<Record<string, Answer>>, given: Given = {}) {
  const server = await openHostileServer({ secure: true });
  for (const [path, answer] of Object.entries(paths)) server.on(path, answer);
  const host = `api.example.com:${server.port}`;
  const opened = open({ secrets: [{ ...secret, hosts: [host] }], ...given });
  return { ...opened, server, url: `https://${host}` };
}

const text = (body: Uint8Array): string => Buffer.from(body).toString();

test("the host makes the request with the value, and the answer comes back", async () => {
  const { ask, url, server, steps } = await serving({ "/user": answers.bytes("hello", { "x-kind": "plain" }) });
  const answer = await ask(requestTo(`${url}/user?page=2`, { headers: [["X-Mine", "1"]] }));
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({ "x-kind": "plain" });
  expect(text(answer.body)).toBe("hello");
  expect(server.asked).toMatchObject([
    {
      method: "GET",
      url: "/user?page=2",
      headers: { authorization: `Bearer ${value}`, "x-mine": "1", "accept-encoding": "identity" },
    },
  ]);
  const host = url.replace("https://", "");
  expect(steps).toEqual([{ type: "secret_sent", secret: "GH_TOKEN", host, method: "GET", status: 200 }]);
});

test("a body is sent as it is, with any method", async () => {
  const { ask, url, server } = await serving({
    "/": (request, response) => void request.pipe(response),
  });
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    const answer = await ask(requestTo(`${url}/`, { method, body: Buffer.from([0, 255, 10]) }));
    expect(Buffer.from(answer.body)).toEqual(Buffer.from([0, 255, 10]));
  }
  expect(server.asked.map(({ method }) => method)).toEqual(["POST", "PUT", "PATCH", "DELETE"]);
});

test("another header carries the value alone", async () => {
  const server = await openHostileServer({ secure: true });
  const hosts = [`api.example.com:${server.port}`];
  const { ask } = open({ secrets: [{ name: "GH_TOKEN", value, header: "x-api-key", hosts }] });
  await ask(requestTo(`https://${hosts[0]}/`));
  expect(server.asked[0]?.headers["x-api-key"]).toBe(value);
});

/** How a server may write the value into its answer. */
const echoes: Readonly<Record<string, string | Uint8Array>> = {
  plain: `Bearer ${value}`,
  json: JSON.stringify({ headers: { authorization: `Bearer ${value}` } }),
  "json with escaped slashes": JSON.stringify({ token: value }).replaceAll("/", "\\/"),
  base64: Buffer.from(value).toString("base64"),
  "base64 of the whole header": Buffer.from(`Bearer ${value}`).toString("base64"),
  base64url: Buffer.from(`xx${value}`).toString("base64url"),
  hexadecimal: Buffer.from(value).toString("hex"),
  "percent-encoded": encodeURIComponent(value),
  html: value.replaceAll('"', "&quot;"),
  "UTF-16": Buffer.from(value, "utf16le"),
  "UTF-16, big-endian": Buffer.from(value, "utf16le").swap16(),
};

test.each(Object.keys(echoes))("header echo: a server that answers with the value as %s", async (form) => {
  const { ask, url } = await serving({ "/": answers.bytes(echoes[form] ?? "") });
  const { body } = await ask(requestTo(`${url}/`));
  expect(text(body)).toContain("***");
  for (const piece of [value, Buffer.from(value).toString("base64"), Buffer.from(value).toString("hex")])
    expect(Buffer.from(body).toString("latin1")).not.toContain(piece.slice(3, -3));
});

test("header echo: in headers, in pieces, at the borders of chunks, and in an error", async () => {
  const { ask, url } = await serving({
    "/headers": answers.status(200, { "x-echo": `Bearer ${value}`, "x-again": value.toLowerCase() }),
    "/pieces": (_request, response) => {
      const pieces = Array.from(`${"x".repeat(32 * 1024 - 5)}${value}${value}`);
      for (const piece of pieces) response.write(piece);
      response.end();
    },
    "/error": answers.status(500, {}, `no user for ${value}`),
  });
  expect(JSON.stringify((await ask(requestTo(`${url}/headers`))).headers)).not.toMatch(/s3cr3t/i);
  expect(text((await ask(requestTo(`${url}/pieces`))).body)).toBe(`${"x".repeat(32 * 1024 - 5)}***`);
  expect(text((await ask(requestTo(`${url}/error`))).body)).toBe("no user for ***");
});

test("the beginning of the value before an ellipsis is not masked: code could guess it character by character", async () => {
  const guess = `${value.slice(0, 6)}…`;
  const { ask, url } = await serving({ "/": answers.bytes(guess) });
  expect(text((await ask(requestTo(`${url}/`))).body)).toBe(guess);
});

test("what a server knows Basic credentials as is hidden, too", async () => {
  const server = await openHostileServer({ secure: true });
  server.on("/", answers.bytes("me:long-password said long-password"));
  const hosts = [`api.example.com:${server.port}`];
  const basic = { ...secret, scheme: "Basic", value: Buffer.from("me:long-password").toString("base64"), hosts };
  const answer = await open({ secrets: [basic] }).ask(requestTo(`https://${hosts[0]}/`));
  expect(text(answer.body)).toBe("*** said ***");
});

test.each(["gzip", "br", "GZIP"])(
  "an answer that is encoded with %s is refused, whatever its status",
  async (coding) => {
    for (const status of [200, 404]) {
      const { ask, url } = await serving({
        "/": (_request, response) => {
          response.writeHead(status, { "content-encoding": coding }).end(gzipSync(value));
        },
      });
      await expect(ask(requestTo(`${url}/`))).rejects.toMatchObject({ code: "SOURCE_INVALID" });
    }
  },
);

test("a redirect is the answer, and the value goes nowhere else", async () => {
  const elsewhere = await openHostileServer({ secure: true });
  for (const status of [301, 302, 303, 307, 308]) {
    const { ask, url, server } = await serving({
      "/": answers.redirect(`https://evil.example.com:${elsewhere.port}/steal`, status),
      "/same": answers.redirect("/other", status),
    });
    const answer = await ask(requestTo(`${url}/`));
    expect(answer).toMatchObject({ status, headers: { location: `https://evil.example.com:${elsewhere.port}/steal` } });
    expect(await ask(requestTo(`${url}/same`, { method: "POST" }))).toMatchObject({ status });
    expect(server.asked.map(({ url: path }) => path)).toEqual(["/", "/same"]);
  }
  expect(elsewhere.asked).toEqual([]);
});

test.each([
  ["another host", "https://evil.example.com:PORT/"],
  ["a subdomain", "https://x.api.example.com:PORT/"],
  ["the domain above", "https://example.com:PORT/"],
  ["the standard port", "https://api.example.com/"],
  ["another port", "https://api.example.com:1/"],
  ["http", "http://api.example.com:PORT/"],
  ["the address of the host", "https://127.0.0.1:PORT/"],
  ["the host as user name", "https://api.example.com:PORT@evil.example.com/"],
  ["a user name", "https://me@api.example.com:PORT/"],
  ["a user name and a password", "https://me:pw@api.example.com:PORT/"],
  ["a backslash", "https://api.example.com:PORT\\@evil.example.com/"],
  ["a host in Unicode", "https://api.exаmple.com:PORT/"],
  ["a full-width letter", "https://ａpi.example.com:PORT/"],
  ["an ideographic full stop", "https://api。example.com:PORT/"],
  ["punycode of a name that looks alike", "https://api.xn--exmple-4nf.com:PORT/"],
  ["a percent-encoded host", "https://api%2eexample.com:PORT/"],
  ["two trailing dots", "https://api.example.com..:PORT/"],
  ["a space", "https://api.example.com:PORT/a b"],
  ["a line end", "https://api.example.com:PORT/\r\nX-Evil: 1"],
  ["a line end before the host", "https://\napi.example.com:PORT/"],
  ["a tab, which parsers of URLs drop", "https://api.exam\tple.com:PORT/"],
  ["a fragment", "https://api.example.com:PORT/#x"],
  ["no scheme", "api.example.com:PORT/"],
  ["another scheme", "ftp://api.example.com:PORT/"],
  ["a file", "file:///etc/passwd"],
  ["a path of a megabyte", `https://api.example.com:PORT/${"x".repeat(1024 * 1024)}`],
])("a URL with %s is refused before anything is sent", async (_what, url) => {
  const { ask, server, steps } = await serving({});
  await expect(ask(requestTo(url.replace("PORT", String(server.port))))).rejects.toMatchObject({
    code: expect.stringMatching(/PERMISSION_DENIED|VALIDATION_ERROR/) as string,
  });
  expect(server.asked).toEqual([]);
  expect(steps).toEqual([]);
});

test("a trailing dot and capitals are the same host, which is asked by its one name", async () => {
  const { ask, server } = await serving({ "/": answers.bytes("ok") });
  await ask(requestTo(`https://API.example.com.:${server.port}/`));
  expect(server.asked[0]?.headers.host).toBe(`api.example.com:${server.port}`);
});

test.each([
  ["the header that carries the value", "Authorization", "Bearer mine"],
  ["Host", "host", "evil.example.com"],
  ["Connection", "Connection", "authorization"],
  ["a header of proxies", "Proxy-Authorization", "x"],
  ["Transfer-Encoding", "Transfer-Encoding", "chunked"],
  ["Content-Length", "Content-Length", "5"],
  ["Upgrade", "upgrade", "h2c"],
  ["Expect", "Expect", "100-continue"],
  ["Range, which would bring the value back in parts", "Range", "bytes=0-3"],
  ["Accept-Encoding", "Accept-Encoding", "gzip"],
  ["Accept-Charset", "Accept-Charset", "utf-7"],
  ["a line end in its value", "X-A", "1\r\nAuthorization: Bearer x"],
  ["a line feed alone", "X-A", "1\nX-B: 2"],
  ["a NUL", "X-A", "1\0"],
  ["a line end in its name", "X-A\r\nX-B", "1"],
  ["a colon in its name", "X-A: 1", "1"],
  ["no name", "", "1"],
  ["Unicode in its value", "X-A", "1\u{560a}X-B: 2"],
  ["the value of the secret", "X-A", `a ${value}`],
])("a header with %s is refused", async (_what, name, header) => {
  const { ask, server, url } = await serving({});
  await expect(ask(requestTo(`${url}/`, { headers: [[name, header]] }))).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
  });
  expect(server.asked).toEqual([]);
});

test.each(["get", "GET / HTTP/1.1\r\nX-A: 1\r\n\r\n", "CONNECT", "TRACE", "", "PROPFIND"])(
  "the method %j is refused",
  async (method) => {
    const { ask, url } = await serving({});
    await expect(ask(requestTo(`${url}/`, { method }))).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  },
);

test("the same header twice, too many headers and too long ones are refused", async () => {
  const { ask, url } = await serving({});
  const many = Array.from({ length: 65 }, (_unused, index) => [`x-${index}`, "1"] as const);
  for (const headers of [
    [
      ["X-A", "1"],
      ["x-a", "2"],
    ] as const,
    many,
    [["x-a", "x".repeat(20_000)]] as const,
  ])
    await expect(ask(requestTo(`${url}/`, { headers }))).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
});

test("a secret that the run may not use is not sent", async () => {
  const { ask, url } = await serving({});
  await expect(ask(requestTo(`${url}/`, { secret: "OTHER" }))).rejects.toThrow(
    'There is no secret "OTHER" to send; the skill names hosts for GH_TOKEN.',
  );
});

test.each(["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1", "0.0.0.0", "::ffff:127.0.0.1"])(
  "a host that resolves to %s is refused",
  async (address) => {
    const { ask, url, server } = await serving(
      {},
      { network: { resolve: () => Promise.resolve([publicAddress, address]) } },
    );
    await expect(ask(requestTo(`${url}/`))).rejects.toMatchObject({ code: "ENDPOINT_UNREACHABLE" });
    expect(server.asked).toEqual([]);
  },
);

test("DNS rebinding: a name is resolved once, and the connection goes to the address that was judged", async () => {
  const answersOfDns = [[publicAddress], ["127.0.0.1"]];
  const connected: string[] = [];
  const { ask, url } = await serving(
    { "/": answers.bytes("ok") },
    {
      network: {
        resolve: () => Promise.resolve(answersOfDns.shift() ?? ["127.0.0.1"]),
        connect: (address, port) => {
          connected.push(address);
          return connect({ host: "127.0.0.1", port });
        },
      },
    },
  );
  await ask(requestTo(`${url}/`));
  expect(connected).toEqual([publicAddress]);
});

test("a server without a certificate of the host gets nothing", async () => {
  const server = await openHostileServer({ secure: true });
  const hosts = [`api.elsewhere.org:${server.port}`];
  const { ask } = open({ secrets: [{ ...secret, hosts }] });
  await expect(ask(requestTo(`https://${hosts[0]}/`))).rejects.toThrow("has no valid TLS certificate");
  expect(server.asked).toEqual([]);
});

test("a loopback address that the manifest spells out is asked over http, and no other port of it", async () => {
  const [server, other] = [await openHostileServer(), await openHostileServer()];
  server.on("/", answers.bytes("local"));
  const { ask } = open({ secrets: [{ ...secret, hosts: [server.origin] }] });
  expect(text((await ask(requestTo(`${server.origin}/`))).body)).toBe("local");
  await expect(ask(requestTo(`${other.origin}/`))).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await expect(ask(requestTo(`http://localhost:${server.port}/`))).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
});

test("a proxy in the middle: HTTP_PROXY and HTTPS_PROXY of this machine are not used", async () => {
  const proxy = await openHostileServer();
  for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"])
    vi.stubEnv(name, proxy.origin);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { ask, url } = await serving({ "/": answers.bytes("direct") });
  expect(text((await ask(requestTo(`${url}/`))).body)).toBe("direct");
  expect(proxy.asked).toEqual([]);
});

test.each([
  ["an endless answer", answers.endlessly(200), "FILE_TOO_LARGE"],
  ["an endless error", answers.endlessly(500), "FILE_TOO_LARGE"],
  ["an answer of one byte too many", answers.bytes(Buffer.alloc(requestLimits.answerBytes + 1)), "FILE_TOO_LARGE"],
  ["no HTTP", answers.raw("hello"), "ENDPOINT_UNREACHABLE"],
  ["half of an answer", answers.truncated(Buffer.alloc(100)), "ENDPOINT_UNREACHABLE"],
  ["headers of 64 KiB", answers.status(200, { "x-a": "x".repeat(64 * 1024) }), "ENDPOINT_UNREACHABLE"],
])("%s is refused", async (_what, answer, code) => {
  const { ask, url } = await serving({ "/": answer });
  await expect(ask(requestTo(`${url}/`))).rejects.toMatchObject({ code });
});

test("an answer of exactly the limit arrives", async () => {
  const { ask, url } = await serving({ "/": answers.bytes(Buffer.alloc(requestLimits.answerBytes, "x")) });
  expect((await ask(requestTo(`${url}/`))).body).toHaveLength(requestLimits.answerBytes);
});

test("a body over the limit is refused", async () => {
  const { ask, url } = await serving({});
  const body = new Uint8Array(requestLimits.bodyBytes + 1);
  await expect(ask(requestTo(`${url}/`, { method: "POST", body }))).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
});

test.each([
  ["silent", answers.silent],
  ["stalled", answers.stalled],
  ["dripping", answers.dripping],
])(
  "a %s server is given up at the time of the request, at that of the run, and when the run ends",
  async (_what, answer) => {
    const { ask, url, steps } = await serving({ "/": answer });
    await expect(ask(requestTo(`${url}/`, { timeoutMs: 50 }))).rejects.toMatchObject({ code: "EXECUTION_TIMEOUT" });
    expect(steps).toMatchObject([{ type: "secret_sent", method: "GET" }]);
    const late = await serving({ "/": answer }, { deadlineMs: 50 });
    await expect(late.ask(requestTo(`${late.url}/`))).rejects.toMatchObject({ code: "EXECUTION_TIMEOUT" });
    const over = new AbortController();
    const asking = ask(requestTo(`${url}/`), over.signal);
    over.abort(new Error("The run is over."));
    await expect(asking).rejects.toThrow("The run is over.");
  },
);

test("at most four requests are under way at once, and a hundred in a run", async () => {
  let inside = 0;
  let most = 0;
  const { ask, url } = await serving({
    "/": (_request, response) => {
      most = Math.max(most, ++inside);
      setImmediate(() => {
        inside -= 1;
        response.end("ok");
      });
    },
  });
  const all = Array.from({ length: requestLimits.requests }, () => ask(requestTo(`${url}/`)));
  expect((await Promise.all(all)).every(({ status }) => status === 200)).toBe(true);
  expect(most).toBeLessThanOrEqual(requestLimits.atOnce);
  await expect(ask(requestTo(`${url}/`))).rejects.toThrow("A run makes at most 100 requests with secrets.");
});

test.each([
  ["short", "has fewer than 8 characters"],
  ["a value\r\nX-Evil: 1", "has characters that no header can carry"],
  ["välue with umlaut", "has characters that no header can carry"],
  ["        ", "has characters that no header can carry"],
])("the value %j is not sent", (unsendable, why) => {
  expect(() => open({ secrets: [{ ...secret, value: unsendable }] })).toThrow(`The value of GH_TOKEN ${why}`);
});

test("no error names the path, the query or the value", async () => {
  const { ask, url } = await serving({ "/secret-path": answers.raw(`HTTP/1.1 abc ${value}\r\n\r\n`) });
  const failed = await ask(requestTo(`${url}/secret-path?key=${encodeURIComponent(value)}`)).catch(String);
  expect(failed).not.toMatch(/secret-path|s3cr3t/);
});

test("whatever URL is accepted, parsers of URLs find exactly the host that was approved", () => {
  const part = fc.constantFrom(
    ...[
      "https:",
      "http:",
      "//",
      "/",
      "\\",
      "@",
      ":",
      "443",
      "8443",
      "api.example.com",
      "evil.example",
      ".",
      "?",
      "#",
      "%2e",
      "\t",
      "\n",
      " ",
      "é",
      "[::1]",
      "127.0.0.1",
      "API",
    ],
  );
  const url = fc.oneof(
    fc.array(part, { maxLength: 8 }).map((parts) => parts.join("")),
    fc.array(part, { maxLength: 6 }).map((parts) => `https://api.example.com${parts.join("")}`),
    fc.webUrl(),
  );
  fc.assert(
    fc.property(url, (text) => {
      let checked;
      try {
        checked = checkRequest(requestTo(text), secret);
      } catch (error) {
        expect(error).toMatchObject({ code: expect.stringMatching(/PERMISSION_DENIED|VALIDATION_ERROR/) as string });
        return;
      }
      expect(new URL(checked.url).origin).toBe("https://api.example.com");
      expect(new URL(text).hostname.replace(/\.$/, "")).toBe("api.example.com");
    }),
    { numRuns: 5_000 },
  );
});

test("whatever headers are accepted, each is one line and none is the one of the secret", () => {
  const name = fc.oneof(fc.constantFrom("Authorization", "host", "x-a", "AUTHORIZATION ", "x\n"), fc.string());
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, fc.oneof(fc.string(), fc.string({ unit: "binary" }))), { maxLength: 4 }),
      (headers) => {
        let checked;
        try {
          checked = checkRequest(requestTo("https://api.example.com/", { headers }), secret);
        } catch {
          return;
        }
        for (const [key, header] of Object.entries(checked.headers)) {
          expect(key).toMatch(/^[!#$%&'*+.^_`|~0-9a-z-]+$/);
          expect(header).toMatch(/^[\t -~]*$/);
          expect(key).not.toBe("authorization");
        }
      },
    ),
    { numRuns: 3_000 },
  );
});
