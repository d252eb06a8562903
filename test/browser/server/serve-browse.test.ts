import { once } from "node:events";
import { connect } from "node:net";
import { execa } from "execa";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sessionHeader } from "../../../src/browser/wire/sessions.ts";
import { manualClock } from "../../manual-clock.ts";
import { type OpenBrowse, openBrowse } from "./open-browse.ts";

let browse: OpenBrowse;

describe("what others of this machine and its browsers can do", () => {
  beforeEach(async () => {
    browse = await openBrowse();
  });
  afterEach(() => browse.close());

  const everyRoute: readonly (readonly [method: string, target: string])[] = [
    ["GET", "/api/about"],
    ["GET", "/api/skills"],
    ["GET", "/api/skills/pdf"],
    ["GET", "/api/skills/pdf/files?path=SKILL.md"],
    ["GET", "/api/events"],
    ["GET", "/api/session"],
    ["GET", "/nowhere"],
    ["POST", "/api/skills/pdf/decision"],
    ["POST", "/api/skills/pdf/open"],
    ["DELETE", "/api/runs/run_1"],
  ];

  it("answers nothing but the page itself without the cookie", async () => {
    for (const [method, target] of everyRoute) {
      const answer = await browse.send(target, { method });
      expect([target, answer.status]).toEqual([target, 401]);
      expect(answer.text).not.toContain("pdf");
    }
    expect((await browse.send("/")).status).toBe(200);
    expect((await browse.send("/page.js")).status).toBe(200);
    expect((await browse.send("/secret.txt")).status).toBe(401);
  });

  it.skipIf(process.platform !== "linux" || process.getuid?.() !== 0)(
    "is not locked out by another user who opens connections and sends nothing",
    async () => {
      const { hostname, port } = new URL(browse.origin);
      const program = `const { connect } = require("node:net");
        let left = 300;
        const connected = () => --left === 0 && console.log("connected");
        for (let n = left; n > 0; n--) connect(${port}, "${hostname}", connected).on("error", () => {});
        setTimeout(() => {}, 60_000);`;
      const other = execa("setpriv", ["--reuid=65534", "--clear-groups", process.execPath, "-e", program], {
        cwd: "/",
        reject: false,
      });
      await once(other.stdout, "data");
      const signedIn = await browse.signIn();
      for (let time = 0; time < 20; time++)
        expect((await browse.send("/api/about", { headers: signedIn })).status).toBe(200);
      other.kill("SIGKILL");
      expect((await other).signal).toBe("SIGKILL");
    },
  );

  it("takes no cookie that is not exactly its own", async () => {
    const { cookie, ...key } = await browse.signIn();
    const [name, value = ""] = cookie.split("=");
    const statusWith = async (headers: Readonly<Record<string, string>>) =>
      (await browse.send("/api/about", { headers })).status;
    for (const wrong of [`${name}=`, `${name}=${value.slice(0, -1)}`, `x${cookie}`, `acp-skills-1=${value}`, value])
      expect(await statusWith({ ...key, cookie: wrong })).toBe(401);
    expect(await statusWith({ ...key, cookie: `a=1; ${name}=x; ${cookie}` })).toBe(200);
  });

  it("takes no cookie without the key of its session: browsers send it to every port of 127.0.0.1", async () => {
    const [first, second] = [await browse.signIn(), await browse.signIn()];
    const { cookie } = first;
    for (const key of [undefined, "", second[sessionHeader]])
      expect((await browse.send("/api/about", { headers: { cookie, [sessionHeader]: key } })).status).toBe(401);
    expect((await browse.send("/api/about", { headers: first })).status).toBe(200);
    expect((await browse.send("/api/about", { headers: second })).status).toBe(200);
  });

  it.each(["evil.example", "localhost", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.nip.io", "[::1]", ""])(
    "refuses requests for the host %o, whose name may have been pointed here",
    async (host) => {
      for (const target of ["/", "/page.js", "/api/skills"])
        expect((await browse.ask(target, { headers: { host } })).status).toBeGreaterThanOrEqual(400);
      const { port } = new URL(browse.origin);
      expect((await browse.ask("/", { headers: { host: `${host}:${port}` } })).status === 200).toBe(
        host === "127.0.0.1",
      );
    },
  );

  it("refuses a request with two hosts", async () => {
    const { host, hostname, port } = new URL(browse.origin);
    const { cookie, ...key } = await browse.signIn();
    const lines = [
      "GET /api/skills HTTP/1.1",
      `Host: ${host}`,
      `Host: ${host}`,
      `Cookie: ${cookie}`,
      `${sessionHeader}: ${key[sessionHeader]}`,
      "Sec-Fetch-Site: same-origin",
      "Connection: close",
    ];
    const socket = connect({ host: hostname, port: Number(port) });
    socket.end(`${lines.join("\r\n")}\r\n\r\n`);
    expect(Buffer.concat((await socket.toArray()) as Buffer[]).toString()).toMatch(/^HTTP\/1\.1 4\d\d /);
  });

  it("refuses whatever another origin makes the browser send", async () => {
    const { port } = new URL(browse.origin);
    const origins = [
      "null",
      "http://evil.example",
      `http://localhost:${port}`,
      "http://127.0.0.1:1",
      `https://127.0.0.1:${port}`,
    ];
    for (const origin of origins)
      for (const method of ["GET", "POST"]) {
        const answer = await browse.ask("/api/skills", { method, headers: { origin } });
        expect([origin, method, answer.status]).toEqual([origin, method, 403]);
        expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
      }
  });

  it("needs an origin for whatever changes something", async () => {
    for (const method of ["POST", "DELETE", "PUT", "PATCH", "OPTIONS"])
      expect((await browse.ask("/api/skills/pdf/open", { method, headers: { origin: undefined } })).status).toBe(403);
  });

  it.each(["cross-site", "same-site", "none", undefined])(
    "refuses requests with Sec-Fetch-Site %s, also for scripts",
    async (site) => {
      for (const target of ["/", "/page.js", "/api/skills", "/api/events"])
        expect((await browse.ask(target, { headers: { "sec-fetch-site": site } })).status).toBe(403);
      const headers = { "sec-fetch-site": site };
      expect((await browse.ask("/api/session", { method: "POST", headers, body: "{}" })).status).toBe(403);
    },
  );

  it("opens the document, and nothing else, for a person who enters the address", async () => {
    const headers = { "sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    expect((await browse.send("/", { headers })).status).toBe(200);
    expect((await browse.send("/?q=pdf", { headers })).status).toBe(200);
    for (const target of ["/page.js", "/api/skills"]) expect((await browse.ask(target, { headers })).status).toBe(403);
  });

  it("opens the document for a file on this machine that leads to it, but in no frame", async () => {
    const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    expect((await browse.send("/", { headers })).status).toBe(200);
    expect((await browse.send("/", { headers: { ...headers, "sec-fetch-dest": "iframe" } })).status).toBe(403);
    for (const target of ["/page.js", "/api/skills"]) expect((await browse.ask(target, { headers })).status).toBe(403);
  });

  it("exchanges a code once", async () => {
    const code = new URL(browse.newAddress()).hash.slice("#code=".length);
    const exchange = () => browse.send("/api/session", { method: "POST", body: JSON.stringify({ code }) });
    const first = await exchange();
    expect(first.status).toBe(200);
    const [cookie = ""] = first.headers["set-cookie"] ?? [];
    expect(cookie).toMatch(/^acp-skills-\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/);
    expect(cookie).not.toContain(code);
    expect((await exchange()).status).toBe(403);
  });

  it("takes only the code that was printed last", async () => {
    const [old, fresh] = [browse.newAddress(), browse.newAddress()].map((address) => new URL(address).hash.slice(6));
    const exchange = (code = "") => browse.send("/api/session", { method: "POST", body: JSON.stringify({ code }) });
    expect((await exchange(old)).status).toBe(403);
    expect((await exchange(fresh)).status).toBe(200);
  });

  it("limits the attempts to guess a code, and logs none of them", async () => {
    const wrong = () => browse.send("/api/session", { method: "POST", body: '{"code":"guess"}' });
    const statuses = [];
    for (let attempt = 0; attempt < 22; attempt++) statuses.push((await wrong()).status);
    expect(statuses.slice(0, 20).every((status) => status === 403)).toBe(true);
    expect(statuses.slice(20)).toEqual([429, 429]);
    expect(browse.logged.join("\n")).not.toContain("guess");
  });

  it("takes the right code after twenty wrong ones", async () => {
    const exchange = (code: string) => browse.send("/api/session", { method: "POST", body: JSON.stringify({ code }) });
    for (let attempt = 0; attempt < 20; attempt++) await exchange("guess");
    expect((await exchange(new URL(browse.newAddress()).hash.slice(6))).status).toBe(200);
    expect((await exchange("guess")).status).toBe(429);
  });

  it("keeps those who signed in when another browser does", async () => {
    await browse.signIn();
    expect((await browse.ask("/api/about")).status).toBe(200);
  });

  it("has the headers that keep everything of others out, on every answer", async () => {
    const answers = await Promise.all([
      browse.send("/"),
      browse.send("/page.js"),
      browse.send("/api/skills"),
      browse.ask("/api/skills"),
      browse.ask("/api/skills/none"),
      browse.send("/", { headers: { host: "evil.example" } }),
    ]);
    for (const { headers } of answers) {
      expect(headers["content-security-policy"]).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
          "trusted-types 'none'",
      );
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "x-frame-options": "DENY",
      });
      expect(headers["permissions-policy"]).toContain("camera=()");
      expect(headers["cache-control"]).toMatch(/^(?:no-store|private, no-cache)$/);
    }
  });

  it("has no secret in the document", async () => {
    const address = browse.newAddress();
    const { text, headers } = await browse.send("/");
    expect(text).toContain('<html lang="en">');
    expect(text).toContain('<script type="module" src="/page.js"></script>');
    expect(text).toContain("<noscript>");
    expect(text).not.toMatch(/[\w-]{40}/);
    expect(text).not.toMatch(/<script(?! type="module" src=)|\sstyle=|\son\w+=/);
    expect(headers["set-cookie"]).toBeUndefined();
    expect(new URL(address).pathname + new URL(address).search).toBe("/");
    expect(new URL(address).hash).toMatch(/^#code=[\w-]{43}$/);
  });

  it("does not take a path for another one", async () => {
    for (const target of [
      "/api/../api/skills",
      "//api/skills",
      "/api/%2e%2e/x",
      "/api/skills/%00",
      "/api\\skills",
      "*",
    ])
      expect((await browse.ask(target)).status).toBe(400);
    expect((await browse.ask("/api/skills/%E0%A4%A")).status).toBe(404);
  });

  it("answers unknown paths with 404, and other methods with 405", async () => {
    expect((await browse.ask("/api/nothing")).status).toBe(404);
    const answer = await browse.ask("/api/skills", { method: "DELETE" });
    expect([answer.status, answer.headers.allow]).toEqual([405, "GET, HEAD"]);
  });
});

it("answers nothing to a program of another user, who may have read the address in the list of processes", async () => {
  let isOwn = true;
  browse = await openBrowse({ isOwnPeer: () => Promise.resolve(isOwn) });
  try {
    const code = new URL(browse.newAddress()).hash.slice(6);
    isOwn = false;
    const exchange = () => browse.send("/api/session", { method: "POST", body: JSON.stringify({ code }) });
    expect((await exchange()).status).toBe(403);
    expect((await browse.ask("/api/skills")).status).toBe(403);
    isOwn = true;
    expect((await exchange()).status).toBe(200);
  } finally {
    await browse.close();
  }
});

it("takes a code for five minutes", async () => {
  const clock = manualClock();
  browse = await openBrowse({ clock });
  try {
    const code = new URL(browse.newAddress()).hash.slice(6);
    clock.pass(5 * 60_000);
    const answer = await browse.send("/api/session", { method: "POST", body: JSON.stringify({ code }) });
    expect(answer.status).toBe(403);
    expect(answer.json().error.hint).toContain("press Enter");
  } finally {
    await browse.close();
  }
});

it("changes nothing if it is read-only, and says so", async () => {
  browse = await openBrowse({ readOnly: true });
  try {
    for (const [method, target] of [
      ["POST", "/api/skills/pdf/decision"],
      ["POST", "/api/skills/pdf/open"],
      ["POST", "/api/runs"],
      ["DELETE", "/api/runs/x"],
      ["POST", "/api/sources/apply"],
    ] as const) {
      const answer = await browse.ask(target, { method, ...(method === "POST" && { body: "{}" }) });
      expect([target, answer.status, answer.json().error.message]).toEqual([target, 403, "This page is read-only."]);
    }
    expect((await browse.ask("/api/about")).json().readOnly).toBe(true);
    expect((await browse.ask("/api/skills/pdf")).json().nonce).toBeUndefined();
    expect((await browse.signIn()).cookie).not.toBe("");
  } finally {
    await browse.close();
  }
});

it("answers a failure of its own with an id that is in the log, and goes on", async () => {
  browse = await openBrowse();
  try {
    browse.app.source.bytes.head = () => {
      throw new TypeError("disk of /secret/place broke");
    };
    const answer = await browse.ask("/api/skills/pdf/files?path=SKILL.md");
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain("secret");
    const [id = ""] = /err_[0-9a-f]{16}/.exec(answer.text) ?? [];
    expect(browse.logged.join("\n")).toContain(id);
    expect((await browse.ask("/api/about")).status).toBe(200);
  } finally {
    await browse.close();
  }
});

describe("idle shutdown", () => {
  it("ends when nothing was asked for that long", async () => {
    const clock = manualClock();
    browse = await openBrowse({ clock, idleMs: 600_000 });
    try {
      clock.pass(9 * 60_000);
      await browse.ask("/api/about");
      await browse.send("/");
      clock.pass(9 * 60_000);
      expect(browse.idled()).toBe(0);
      clock.pass(60_000);
      expect(browse.idled()).toBe(1);
    } finally {
      await browse.close();
    }
  });

  it("is not held up by those who have no cookie", async () => {
    const clock = manualClock();
    browse = await openBrowse({ clock, idleMs: 600_000 });
    try {
      clock.pass(9 * 60_000);
      await browse.send("/api/about");
      await browse.send("/");
      clock.pass(60_000);
      expect(browse.idled()).toBe(1);
    } finally {
      await browse.close();
    }
  });

  it("waits for a page that is connected, and as long again after it went", async () => {
    const clock = manualClock();
    browse = await openBrowse({ clock, idleMs: 600_000 });
    try {
      const events = await browse.events();
      await events.next("reset");
      clock.pass(60 * 60_000);
      expect(browse.idled()).toBe(0);
      events.close();
      await expect.poll(() => browse.ask("/api/about").then(({ status }) => status)).toBe(200);
      clock.pass(9 * 60_000);
      expect(browse.idled()).toBe(0);
    } finally {
      await browse.close();
    }
  });
});

it("says which port is in use", async () => {
  browse = await openBrowse();
  try {
    const port = Number(new URL(browse.origin).port);
    await expect(openBrowse({ port })).rejects.toThrow(`port ${port} is in use`);
  } finally {
    await browse.close();
  }
});
