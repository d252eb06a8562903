import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { openSourceCopies } from "../../src/sources/store.ts";
import { agentSkillsSchema } from "../../src/sources/reader/indexes/agent-skills.ts";
import { openSourceReader } from "../../src/sources/reader.ts";
import { manualClock } from "../manual-clock.ts";
import { tarOf } from "./archive/tar-blocks.ts";
import {
  type Answer,
  type HostileServer,
  answers,
  gzipOfZeros,
  openHostileServer,
  openWorld,
  publicAddress,
} from "./hostile-server.ts";

const signal = new AbortController().signal;
const manifest = { name: "SKILL.md", content: "---\nname: rows\ndescription: Counts rows.\n---\nCount.\n" };
const good = gzipSync(tarOf(manifest));
const indexPath = "/.well-known/agent-skills/index.json";

function indexOf(url = "/rows.tar.gz", bytes: Uint8Array = good): Answer {
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  const skill = { name: "rows", type: "archive", description: "Counts rows.", url, digest };
  return answers.json({ $schema: agentSkillsSchema, skills: [skill] });
}

interface Installed {
  readonly server: HostileServer;
  readonly connections: readonly string[];
  /** Looks once; says what failed. */
  readonly look: () => Promise<string>;
  /** Every file that the store has, by path, except for its notes. */
  readonly stored: () => Record<string, string>;
}

async function open(allowPrivate: readonly string[] = []): Promise<Installed> {
  const server = await openHostileServer({ secure: true });
  const names = { "skills.example.com": [[publicAddress]], "inside.example.com": [["10.0.0.5"]] };
  const { options, connections } = openWorld({ names, server, allowPrivate });
  const dataDirectory = mkdtempSync(path.join(tmpdir(), "acp-skills-hostile-"));
  const copies = openSourceCopies(
    {
      dataDirectory,
      sources: ["https://skills.example.com"],
      allowPrivate: [],
      clock: manualClock(),
      log: silentLog,
    },
    { openReader: () => Promise.resolve(openSourceReader(options)) },
  );
  onTestFinished(async () => {
    await copies.close();
    rmSync(dataDirectory, { recursive: true, force: true });
  });
  return {
    server,
    connections,
    async look() {
      const [outcome] = await copies.refresh(signal);
      return [outcome?.failure ?? "", ...(outcome?.state.problems ?? [])].join("\n");
    },
    stored() {
      const files = readdirSync(dataDirectory, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.join(entry.parentPath, entry.name))
        // Newer versions of Node follow the links from sources to the store.
        .filter((file) => !/state\.json$|\/turns\/|\/sources\/[^/]+\/skills\//.test(file));
      return Object.fromEntries(
        files.map((file) => [
          path.relative(dataDirectory, file).replace(/[0-9a-f]{64}/, "…"),
          readFileSync(file, "utf8"),
        ]),
      );
    },
  };
}

const copy = { "remote/store/…/rows/SKILL.md": manifest.content };

test("a server that behaves is copied", async () => {
  const { server, look, stored } = await open();
  server.on(indexPath, indexOf());
  server.on("/rows.tar.gz", answers.bytes(good));
  expect(await look()).toBe("");
  expect(stored()).toEqual(copy);
});

const inside = "https://inside.example.com";
const sharingEntry = {
  id: "com.example.rows-v1",
  name: "rows",
  capability_type: "knowledge",
  description: "Counts rows.",
  access: "public",
  version: "1.0.0",
};
const sharingPath = "/.well-known/skill-sharing";
const sharingOf = (url: string): Answer =>
  answers.json({
    protocol: { version: "1.0.0" },
    provider: { name: "x" },
    skills: [{ ...sharingEntry, descriptor_url: url }],
  });
const descriptorOf = (url: string): Answer =>
  answers.json({
    ...sharingEntry,
    protocol: { version: "1.0.0" },
    provider: { name: "x" },
    endpoint: { url, method: "GET", media_type: "application/gzip" },
    inputs: {},
    output: {},
    auth: { type: "none" },
  });

test.each([
  ["an artifact", { [indexPath]: indexOf(`${inside}/rows.tar.gz`) }],
  ["a descriptor", { [sharingPath]: sharingOf(`${inside}/d.json`) }],
  [
    "what a descriptor names",
    { [sharingPath]: sharingOf("/d.json"), "/d.json": descriptorOf(`${inside}/rows.tar.gz`) },
  ],
])("a public source does not have a private host asked for %s that a person allowed", async (_what, pages) => {
  const { server, look, stored, connections } = await open(["inside.example.com"]);
  for (const [path, answer] of Object.entries(pages)) server.on(path, answer);
  server.on("/rows.tar.gz", answers.bytes(good));
  expect(await look()).toMatch(/rows.*inside\.example\.com.*public/);
  expect(stored()).toEqual({});
  expect(new Set(connections)).toEqual(new Set([`${publicAddress}:443`]));
});

const badIndexes: readonly (readonly [string, Answer, RegExp])[] = [
  ["is no JSON", answers.bytes('{"skills": ['), /JSON/],
  ["is a page", answers.bytes("<!doctype html>", { "content-type": "text/html" }), /JSON|HTML|no skills/i],
  ["is not UTF-8", answers.bytes(Buffer.from([0x7b, 0xff, 0x7d])), /not text/],
  ["has too many values", answers.bytes(`{"skills":[${"7,".repeat(200_000)}7]}`), /more than 200000 keys and values/],
  ["is nested deeply", answers.bytes("[".repeat(1_000_000) + "]".repeat(1_000_000)), /skills\.example\.com/],
  ["is another document", answers.json({ $schema: "https://example.com/x", skills: "all" }), /skills\.example\.com/],
  ["is a number", answers.json(7), /skills\.example\.com/],
  ["never ends", answers.endlessly(200), /sent more than \d+ bytes/],
  ["is compressed", answers.bytes(gzipSync("{}"), { "content-encoding": "gzip" }), /compressed answer/],
  ["redirects in a circle", answers.redirect(indexPath), /redirects more than 5 times/],
  ["redirects inside", answers.redirect("https://inside.example.com/"), /resolves to a private address/],
  ["redirects to loopback", answers.redirect("https://127.0.0.1/"), /127\.0\.0\.1 is a private address/],
  ["fails", answers.status(500), /answered 500/],
  ["asks to slow down", answers.status(429, { "retry-after": "60" }), /answered 429/],
  ["sends huge headers", answers.status(200, { big: "x".repeat(17_000) }), /headers of more than 16 KiB/],
  ["is cut off", answers.truncated(Buffer.from('{"skills":[]}')), /closed the connection/],
];

/** Of another version than the good copy's. */
const newer = indexOf("/rows.tar.gz", Buffer.from("newer"));

const badSkills: readonly (readonly [string, Answer, Answer, RegExp])[] = [
  [
    "has other bytes than its digest",
    indexOf("/rows.tar.gz", Buffer.from("x")),
    answers.bytes(good),
    /not what its index says/,
  ],
  ["is on this machine", indexOf("https://127.0.0.1/rows.tar.gz"), answers.bytes(good), /this machine|private/],
  ["is on a private host", indexOf("https://inside.example.com/rows.tar.gz"), answers.bytes(good), /private address/],
  ["is a cloud's secret", indexOf("https://169.254.169.254/rows.tar.gz"), answers.bytes(good), /private address/],
  ["is had by http", indexOf("http://skills.example.com/rows.tar.gz"), answers.bytes(good), /http/],
  ["is a file", indexOf("file:///etc/passwd"), answers.bytes(good), /http/],
  ["is gone", newer, answers.status(404), /status 404/],
  ["never ends", newer, answers.endlessly(200), /sent more than/],
  ...(
    [
      ["leads upwards", gzipSync(tarOf(manifest, { name: "../x", content: "x" })), /unusable path/],
      ["is absolute", gzipSync(tarOf(manifest, { name: "/tmp/x", content: "x" })), /is absolute/],
      ["links outside", gzipSync(tarOf(manifest, { name: "l", type: "2", target: "/etc" })), /has a link/],
      ["is a zip bomb", gzipOfZeros(80_000_000), /unpacks to more than/],
      ["has two spellings", gzipSync(tarOf(manifest, { name: "skill.MD" })), /names the same file/],
    ] as const
  ).map(([what, bytes, why]) => [what, indexOf("/rows.tar.gz", bytes), answers.bytes(bytes), why] as const),
];

describe.each([
  ["nothing is stored", false],
  ["the last good copy stays as it was", true],
])("%s", (_what, before) => {
  async function opened(): Promise<Installed> {
    const world = await open();
    if (!before) return world;
    world.server.on(indexPath, indexOf());
    world.server.on("/rows.tar.gz", answers.bytes(good));
    await world.look();
    return world;
  }

  test.each(badIndexes)("if the index %s", async (_case, answer, why) => {
    const { server, look, stored, connections } = await opened();
    server.on(indexPath, answer);
    expect(await look()).toMatch(why);
    expect(stored()).toEqual(before ? copy : {});
    expect(new Set(connections)).toEqual(new Set([`${publicAddress}:443`]));
  });

  test.each(badSkills)("if a skill %s", async (_case, index, answer, why) => {
    const { server, look, stored, connections } = await opened();
    server.on(indexPath, index);
    server.on("/rows.tar.gz", answer);
    expect(await look()).toMatch(why);
    expect(stored()).toEqual(before ? copy : {});
    expect(new Set(connections)).toEqual(new Set([`${publicAddress}:443`]));
  });
});
