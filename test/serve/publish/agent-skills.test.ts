import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { artifactGraceMs } from "../../../src/serve/publish/artifacts.ts";
import { recheckMs } from "../../../src/serve/publish/made-of-skills.ts";
import { readArchive } from "../../../src/sources/archive/read-archive.ts";
import { newToken, toTokenDigest } from "../../../src/wire/http.ts";
import { type Answered, type OpenServer, openServer } from "../open-server.ts";
import { defaultServerLimits } from "../../../src/serve/config.ts";

interface Entry {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly url: string;
  readonly digest: string;
}

const index = "/.well-known/agent-skills/index.json";
const skillOf = (name: string): string => `---\nname: ${name}\ndescription: Does ${name}.\n---\n# ${name}\n`;
const skills = {
  "plain/SKILL.md": skillOf("plain"),
  "tools/SKILL.md": skillOf("tools"),
  "tools/scripts/run.sh": "#!/bin/sh\necho hello\n",
  "tools/assets/a & b.bin": new Uint8Array([0, 255, 1]),
  "tools/.env": "KEY=secret\n",
  "tools/skill.sigstore.json": "{}",
  "halfway/SKILL.md": skillOf("halfway"),
  "hidden/SKILL.md": skillOf("hidden"),
};
const access = { default: "private", public: ["plain", "tools"], restricted: ["halfway"], private: [] } as const;

let ms = 0;
const clock = { ...systemClock, now: () => systemClock.now() + ms };
let server: OpenServer;

afterEach(async () => {
  await server.close();
});

async function entriesOf(path = index, caller?: string): Promise<readonly Entry[]> {
  const { status, text } = await server.send(path, caller === undefined ? {} : { caller });
  expect(status).toBe(200);
  return (JSON.parse(text) as { skills: Entry[] }).skills;
}

const addressOf = ({ url }: Entry, of = index): string => new URL(url, `http://x${of}`).pathname;
const digestOf = (bytes: Buffer): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const withoutDate = ({ status, headers, text }: Answered): Omit<Answered, "bytes"> => ({
  status,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "date")),
  text,
});
const names = (entries: readonly Entry[]): readonly string[] => entries.map(({ name }) => name);

test("the index names each public skill with the digest of its artifact", async () => {
  server = await openServer({ skills, access, clock });
  const { headers, text } = await server.send(index);
  expect(headers).toMatchObject({ "content-type": "application/json", "cache-control": "public, no-cache" });
  expect(JSON.parse(text)).toEqual({
    $schema: "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
    skills: [
      {
        name: "plain",
        type: "skill-md",
        description: "Does plain.",
        url: expect.stringMatching(/^plain-[0-9a-f]{32}\/SKILL\.md$/) as string,
        digest: digestOf(Buffer.from(skills["plain/SKILL.md"])),
      },
      {
        name: "tools",
        type: "archive",
        description: "Does tools.",
        url: expect.stringMatching(/^tools-[0-9a-f]{32}\.tar\.gz$/) as string,
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
      },
    ],
  });
});

test("a skill of one file is served as that file, others as an archive of the files that are its own", async () => {
  server = await openServer({ skills, access, clock });
  const [plain, tools] = await entriesOf();
  const file = await server.send(addressOf(plain!));
  expect(file).toMatchObject({ status: 200, text: skills["plain/SKILL.md"] });
  expect(file.headers).toMatchObject({
    "content-type": "text/markdown; charset=utf-8",
    "cache-control": "public, max-age=31536000, immutable",
    "content-length": String(file.bytes.length),
    "x-content-type-options": "nosniff",
  });
  const archive = await server.send(addressOf(tools!));
  expect(archive.headers).toMatchObject({ "content-type": "application/gzip" });
  expect(archive.headers).not.toHaveProperty("content-encoding");
  expect(digestOf(archive.bytes)).toBe(tools!.digest);
  const { files } = await readArchive(archive.bytes, {}, new AbortController().signal);
  expect(files.map(({ path }) => path)).toEqual([
    "SKILL.md",
    "assets/a & b.bin",
    "scripts/run.sh",
    "skill.sigstore.json",
  ]);
  expect(Buffer.from(files[2]!.bytes).toString()).toBe(skills["tools/scripts/run.sh"]);
});

test("HEAD answers as GET does, without a body, and a known ETag with 304", async () => {
  server = await openServer({ skills, access, clock });
  for (const path of [index, addressOf((await entriesOf())[1]!)]) {
    const got = await server.send(path);
    const head = await server.send(path, { method: "HEAD" });
    expect(head).toMatchObject({ status: 200, text: "" });
    expect(withoutDate(head).headers).toEqual(withoutDate(got).headers);
    const known = await server.send(path, { headers: { "if-none-match": `"x", ${got.headers.etag ?? ""}` } });
    expect(known).toMatchObject({ status: 304, text: "" });
    expect(known.headers.etag).toBe(got.headers.etag);
    expect(await server.send(path, { method: "POST" })).toMatchObject({ status: 405 });
  }
});

test("without credentials only public skills can be had; with them, those of the caller", async () => {
  const callers = [{ name: "all" }, { name: "some", skills: ["h*"] }];
  server = await openServer({ skills, access, clock, callers });
  expect(names(await entriesOf())).toEqual(["plain", "tools"]);
  const all = await entriesOf(index, "all");
  expect(names(all)).toEqual(["halfway", "hidden", "plain", "tools"]);
  expect(names(await entriesOf(index, "some"))).toEqual(["halfway", "hidden"]);
  const anonymous = { halfway: 401, hidden: 404, plain: 200, tools: 200 } as Readonly<Record<string, number>>;
  for (const entry of all) {
    const isPublic = ["plain", "tools"].includes(entry.name);
    expect(await server.send(addressOf(entry))).toMatchObject({ status: anonymous[entry.name] });
    const known = await server.send(addressOf(entry), { caller: "all" });
    expect(known).toMatchObject({ status: 200 });
    expect(known.headers["cache-control"]).toBe("private, max-age=31536000, immutable");
    expect(await server.send(addressOf(entry), { caller: "some" })).toMatchObject({ status: isPublic ? 404 : 200 });
  }
  const { headers } = await server.send(index, { caller: "all" });
  expect(headers).toMatchObject({ "cache-control": "private, no-cache", vary: "authorization" });
});

test("a restricted skill, which is listed for everybody, is downloaded with a token; shares without it do not know it", async () => {
  const token = newToken();
  const shares = [{ name: "team", tokenDigest: toTokenDigest(token), skills: ["plain"] }];
  server = await openServer({ skills, access, clock, shares, callers: [{ name: "all" }] });
  const [halfway] = await entriesOf(index, "all");
  const { status, headers, text } = await server.send(addressOf(halfway!));
  expect({ status, error: (JSON.parse(text) as { error: object }).error }).toMatchObject({
    status: 401,
    error: { code: "AUTH_REQUIRED", message: "The skill halfway is downloaded with a bearer token." },
  });
  expect(headers).toMatchObject({ "www-authenticate": "Bearer", "cache-control": "no-store" });
  const absent = await server.send(addressOf(halfway!).replace(/[0-9a-f]{32}/, "0".repeat(32)));
  expect(absent).toMatchObject({ status, text });
  expect(await server.send(addressOf(halfway!, `/s/${token}${index}`))).toMatchObject({ status: 404 });
});

test("a share's path shows its own skills only, and its artifacts are below it", async () => {
  const token = newToken();
  const shares = [{ name: "team", tokenDigest: toTokenDigest(token), skills: ["hidden", "tools"] }];
  server = await openServer({ skills, access, clock, shares });
  const shared = `/s/${token}${index}`;
  const entries = await entriesOf(shared);
  expect(names(entries)).toEqual(["hidden", "tools"]);
  for (const entry of entries) {
    const answer = await server.send(addressOf(entry, shared));
    expect(answer.status).toBe(200);
    expect(digestOf(answer.bytes)).toBe(entry.digest);
    expect(answer.headers).toMatchObject({
      "cache-control": "private, max-age=31536000, immutable",
      "referrer-policy": "no-referrer",
    });
  }
  const [plain] = await entriesOf();
  expect(await server.send(`/s/${token}${addressOf(plain!)}`)).toMatchObject({ status: 404 });
  expect(await server.send(addressOf(entries[0]!))).toMatchObject({ status: 404 });
});

test("a wrong token is answered like any unknown path, and no token is logged", async () => {
  const token = newToken();
  const shares = [{ name: "team", tokenDigest: toTokenDigest(token), skills: ["*"] }];
  server = await openServer({ skills, access, clock, shares });
  const unknown = withoutDate(await server.send("/nothing/here"));
  for (const wrong of [newToken(), token.slice(1), `${token}x`, "x"])
    expect(withoutDate(await server.send(`/s/${wrong}${index}`))).toEqual(unknown);
  expect(withoutDate(await server.send(`/s/${token}`))).toEqual(unknown);
  expect(server.logged.join("\n")).not.toContain(token.slice(1));
});

test("after an edit the index names the new artifact, and the old one can still be had for a time", async () => {
  server = await openServer({ skills, access, clock });
  const before = (await entriesOf())[1]!;
  const old = await server.send(addressOf(before));
  server.writeFile("tools/scripts/run.sh", "#!/bin/sh\necho goodbye\n");
  ms += recheckMs;
  const after = (await entriesOf())[1]!;
  expect(after.digest).not.toBe(before.digest);
  expect(digestOf((await server.send(addressOf(after))).bytes)).toBe(after.digest);
  expect((await server.send(addressOf(before))).bytes.equals(old.bytes)).toBe(true);
  ms += artifactGraceMs;
  expect(await server.send(addressOf(before))).toMatchObject({ status: 404 });
  expect(await server.send(addressOf(after))).toMatchObject({ status: 200 });
});

test("what is withdrawn is not served again at its old address", async () => {
  server = await openServer({ skills, access, clock });
  const [, tools] = await entriesOf();
  server.removeSkill("tools");
  await expect.poll(async () => names(await entriesOf())).toEqual(["plain"]);
  expect(await server.send(addressOf(tools!))).toMatchObject({ status: 404 });
});

test("skills that fit into no archive are left out, and the log says why", async () => {
  const long = `references/${"a".repeat(101)}.md`;
  const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`many/data/${at}.txt`, "x"]));
  server = await openServer({
    skills: {
      ...skills,
      "long/SKILL.md": skillOf("long"),
      [`long/${long}`]: "x",
      "many/SKILL.md": skillOf("many"),
      ...many,
    },
    access: { ...access, default: "public" },
    clock,
  });
  expect(names(await entriesOf())).toEqual(["hidden", "plain", "tools"]);
  const log = server.logged.join("\n");
  expect(log).toContain("warning many gets no archive: it has more than 1000 files.");
  expect(log).toMatch(/warning long gets no archive: it does not fit into an archive: .*at most 100 bytes/);
});

test("507 artifacts that are requested at once are all answered, whatever the rate limit", async () => {
  const many = Array.from({ length: 507 }, (_, at) => `skill-${at}`);
  const limits = { requestsPerMinute: 2, concurrentRequests: 1 };
  server = await openServer({
    skills: many,
    access: { ...access, default: "public" },
    anonymous: { tools: [], limits },
    clock,
  });
  const entries = await entriesOf();
  expect(entries).toHaveLength(507);
  const { hostname, port } = new URL(server.url);
  const answers = await Promise.all(
    entries.map(
      (entry) =>
        new Promise<string>((resolve, reject) => {
          const socket = connect({ host: hostname, port: Number(port) });
          const chunks: Buffer[] = [];
          socket.on("data", (chunk) => chunks.push(chunk));
          socket.once("error", reject);
          socket.once("end", () => resolve(Buffer.concat(chunks).toString()));
          socket.end(`GET ${addressOf(entry)} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nconnection: close\r\n\r\n`);
        }),
    ),
  );
  for (const [at, answer] of answers.entries()) {
    expect(answer.slice(0, 15)).toBe("HTTP/1.1 200 OK");
    expect(digestOf(Buffer.from(answer.slice(answer.indexOf("\r\n\r\n") + 4)))).toBe(entries[at]!.digest);
  }
  expect(await server.send(index)).toMatchObject({ status: 200 });
  expect(await server.send(index)).toMatchObject({ status: 429 });
});

test("readers that ask for a large artifact and read nothing keep others of their address out, not the rest, until they leave", async () => {
  const files = { "big/SKILL.md": skillOf("big"), "big/data.bin": randomBytes(8 * 1024 * 1024) };
  const limits = { ...defaultServerLimits, unreadBytes: 16 * 1024 * 1024 };
  server = await openServer({
    skills: files,
    access: { ...access, default: "public" },
    callers: [{ name: "ci" }],
    limits,
  });
  const address = addressOf((await entriesOf())[0]!);
  const { hostname, port } = new URL(server.url);
  const reader = connect({ host: hostname, port: Number(port) });
  reader.write(`GET ${address} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n\r\n`);
  await once(reader, "readable");
  expect(await server.send(address)).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
  expect((await server.send(index)).status).toBe(200);
  expect((await server.send(address, { caller: "ci" })).status).toBe(200);
  reader.destroy();
  await expect.poll(async () => (await server!.send(address)).status).toBe(200);
});
