import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { SkillsError } from "../../src/base/errors.ts";
import { fetchSkillFiles } from "../../src/sources/reader/fetch-skill-files.ts";
import { manualClock } from "../manual-clock.ts";
import { tarOf } from "./archive/tar-blocks.ts";
import { type Answer, answers, gzipOfZeros, openHostileServer, openWorld, publicAddress } from "./hostile-server.ts";
import type { RemoteContent } from "../../src/sources/reader.ts";

const signal = new AbortController().signal;
const git = (): never => expect.unreachable("git is not needed");
const manifest = { name: "SKILL.md", content: "hello" };
const good = gzipSync(tarOf(manifest));

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

interface Case {
  readonly what: string;
  readonly answer: Answer;
  /** Besides type and URL. */
  readonly content?: Partial<Extract<RemoteContent, { type: "archive" }>>;
  readonly code: SkillsError["code"];
  readonly message: RegExp;
}

/** Of a server that answers when an archive is downloaded. */
const cases: readonly Case[] = [
  {
    what: "redirects to the address of a cloud's secrets",
    answer: answers.redirect("https://169.254.169.254/latest/meta-data/"),
    code: "ENDPOINT_UNREACHABLE",
    message: /^skills\.example\.com redirects to a URL that is refused: 169\.254\.169\.254 is a private address/,
  },
  {
    what: "redirects to loopback by an odd spelling",
    answer: answers.redirect("https://0x7f000001/"),
    code: "ENDPOINT_UNREACHABLE",
    message: /redirects to a URL that is refused: 127\.0\.0\.1 is a private address/,
  },
  {
    what: "redirects to a name that leads to this machine",
    answer: answers.redirect("https://inside.example.com/"),
    code: "ENDPOINT_UNREACHABLE",
    message: /^inside\.example\.com resolves to a private address; if you trust it, allow it with --allow-private/,
  },
  {
    what: "redirects to http",
    answer: answers.redirect("http://skills.example.com/skill.tar.gz"),
    code: "ENDPOINT_UNREACHABLE",
    message: /redirects to a URL with http:; only https: is followed/,
  },
  {
    what: "redirects in a circle",
    answer: answers.redirect("/skill.tar.gz"),
    code: "ENDPOINT_UNREACHABLE",
    message: /^skills\.example\.com redirects more than 5 times\.$/,
  },
  {
    what: "never ends its body",
    answer: answers.endlessly(200),
    code: "FILE_TOO_LARGE",
    message: /^skills\.example\.com sent more than 26214400 bytes, the limit for this answer\.$/,
  },
  {
    what: "announces more bytes than the limit",
    answer: answers.raw("HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\nx"),
    code: "FILE_TOO_LARGE",
    message: /sent more than 26214400 bytes/,
  },
  {
    what: "closes in the middle of its body",
    answer: answers.truncated(good),
    content: { digest: digestOf(good) },
    code: "ENDPOINT_UNREACHABLE",
    message: /closed the connection before the answer was complete; try again/,
  },
  {
    what: "sends fewer bytes than there were, without saying so",
    answer: answers.raw(Buffer.concat([Buffer.from("HTTP/1.0 200 OK\r\n\r\n"), good.subarray(0, 50)])),
    code: "SOURCE_INVALID",
    message: /^The archive is damaged: it cannot be unzipped\.$/,
  },
  {
    what: "sends huge headers",
    answer: answers.status(200, { big: "x".repeat(17_000) }),
    code: "ENDPOINT_UNREACHABLE",
    message: /answered with headers of more than 16 KiB/,
  },
  {
    what: "compresses although identity was requested",
    answer: answers.bytes(gzipSync(good), { "content-encoding": "gzip" }),
    code: "SOURCE_INVALID",
    message: /sent a compressed answer \(Content-Encoding\) although identity was requested/,
  },
  {
    what: "lies about compressing",
    answer: answers.bytes(good, { "content-encoding": "br" }),
    code: "SOURCE_INVALID",
    message: /sent a compressed answer/,
  },
  {
    what: "sends other bytes than its index said",
    answer: answers.bytes(good),
    content: { digest: digestOf(Buffer.from("something else")) },
    code: "SOURCE_INVALID",
    message:
      /^The skill is not what its index says: its digest is sha256:[0-9a-f]{64} instead of sha256:[0-9a-f]{64}\.$/,
  },
  {
    what: "gives a digest of another kind",
    answer: answers.bytes(good),
    content: { digest: "md5:d41d8cd98f00b204e9800998ecf8427e" },
    code: "SOURCE_INVALID",
    message: /has an invalid digest; it must be sha256: and 64 hexadecimal digits/,
  },
  {
    what: "sends an archive that leads upwards",
    answer: answers.bytes(gzipSync(tarOf(manifest, { name: "a/../../x", content: "x" }))),
    code: "SOURCE_INVALID",
    message: /^The archive has an unusable path: "a\/\.\.\/\.\.\/x" has a segment \.\.\.$/,
  },
  {
    what: "sends an archive with an absolute path",
    answer: answers.bytes(gzipSync(tarOf(manifest, { name: "/etc/cron.d/x", content: "x" }))),
    code: "SOURCE_INVALID",
    message: /"\/etc\/cron\.d\/x" is absolute/,
  },
  {
    what: "sends an archive with a link out of it",
    answer: answers.bytes(gzipSync(tarOf(manifest, { name: "passwd", type: "2", target: "/etc/passwd" }))),
    code: "SOURCE_INVALID",
    message: /has a link, "passwd"; links are not unpacked/,
  },
  {
    what: "sends an archive with a hard link",
    answer: answers.bytes(gzipSync(tarOf(manifest, { name: "again", type: "1", target: "SKILL.md" }))),
    code: "SOURCE_INVALID",
    message: /has a link, "again"/,
  },
  {
    what: "sends an archive with a hook of git",
    answer: answers.bytes(gzipSync(tarOf(manifest, { name: ".git/hooks/post-checkout", mode: "0000755\0" }))),
    code: "SOURCE_INVALID",
    message: /leads into a directory of git/,
  },
  {
    what: "sends a zip bomb",
    answer: answers.bytes(gzipOfZeros(80_000_000)),
    code: "SOURCE_INVALID",
    message: /^The archive unpacks to more than \d+ bytes\.$/,
  },
  {
    what: "sends a bomb as a file",
    answer: answers.bytes(
      gzipSync(tarOf(manifest, { name: "a", size: "00777777777\0", content: Buffer.alloc(70_000) })),
    ),
    code: "SOURCE_INVALID",
    message: /^The archive has files of more than \d+ bytes\.$/,
  },
  {
    what: "sends a bomb in a bomb",
    answer: answers.bytes(gzipSync(gzipOfZeros(50_000_000))),
    code: "SOURCE_INVALID",
    message: /no tar archive/,
  },
  {
    what: "sends more files than the limit",
    answer: answers.bytes(gzipSync(tarOf(...Array.from({ length: 1_001 }, (_, index) => ({ name: `${index}` }))))),
    code: "SOURCE_INVALID",
    message: /^The archive has more than 1000 files\.$/,
  },
  {
    what: "sends a page instead of an archive",
    answer: answers.bytes("<!doctype html><title>Sign in</title>".repeat(50), { "content-type": "text/html" }),
    code: "SOURCE_INVALID",
    message: /is damaged, or no tar archive/,
  },
  {
    what: "sends an archive without SKILL.md",
    answer: answers.bytes(gzipSync(tarOf({ name: "README.md", content: "x" }))),
    code: "SOURCE_INVALID",
    message: /^The skill has no SKILL\.md at its root\.$/,
  },
  {
    what: "sends an archive without the directory that its index names",
    answer: answers.bytes(good),
    content: { directory: "skills/one" },
    code: "SOURCE_INVALID",
    message: /^The archive has no directory "skills\/one"\.$/,
  },
  {
    what: "names a directory above the archive",
    answer: answers.bytes(good),
    content: { directory: "../other" },
    code: "SOURCE_INVALID",
    message: /^The index has an unusable path: "\.\.\/other" has a segment \.\.\.$/,
  },
  {
    what: "fails",
    answer: answers.status(503),
    code: "ENDPOINT_UNREACHABLE",
    message: /^skills\.example\.com answered with status 503 for the skill\.$/,
  },
  {
    what: "fails with an endless page",
    answer: answers.endlessly(500),
    code: "ENDPOINT_UNREACHABLE",
    message: /answered with status 500 for the skill/,
  },
  {
    what: "asks to slow down",
    answer: answers.status(429, { "retry-after": "120" }),
    code: "RATE_LIMITED",
    message: /^skills\.example\.com answered with status 429 for the skill; try again after 120 s\.$/,
  },
  {
    what: "wants credentials",
    answer: answers.status(401, { "www-authenticate": "Bearer" }),
    code: "AUTH_REQUIRED",
    message: /answered with status 401 for the skill, which needs credentials: --token env:NAME of .*publisher\.$/,
  },
  {
    what: "does not have it",
    answer: answers.status(404),
    code: "ENDPOINT_UNREACHABLE",
    message: /answered with status 404 for the skill\.$/,
  },
];

describe("a skill is refused, without its URL in the message, if its server", () => {
  test.each(cases)("$what", async ({ answer, content, code, message }) => {
    const server = await openHostileServer({ secure: true });
    server.on("/skill.tar.gz", answer);
    const names = { "skills.example.com": [[publicAddress]], "inside.example.com": [["127.0.0.1"]] };
    const { fetcher, connections } = openWorld({ names, server });
    const url = "https://skills.example.com/skill.tar.gz?token=secret";
    const error = await fetchSkillFiles({ type: "archive", url, ...content }, { fetcher, git, signal }).then(
      () => expect.unreachable("it should be refused"),
      (thrown: unknown) => thrown as SkillsError,
    );
    expect(error.message).toMatch(message);
    expect(error.code).toBe(code);
    expect(error.message).not.toMatch(/secret|skill\.tar\.gz/);
    expect(new Set(connections)).toEqual(new Set([`${publicAddress}:443`]));
  });

  test.each([
    ["says nothing", answers.silent],
    ["stops in its body", answers.stalled],
    ["sends a byte now and then", answers.dripping],
  ])("%s", async (_what, answer) => {
    const server = await openHostileServer();
    const clock = manualClock();
    const url = server.on("/skill.tar.gz", answer);
    const { fetcher } = openWorld({ typed: [url], clock });
    const failed = fetchSkillFiles({ type: "archive", url }, { fetcher, git, signal }).catch((error: unknown) => error);
    await server.arrived("/skill.tar.gz");
    clock.pass(120_000);
    expect(await failed).toMatchObject({
      code: "EXECUTION_TIMEOUT",
      message: `127.0.0.1:${server.port} did not answer completely within 120 s; try again.`,
    });
  });

  test("changes its address between two look-ups", async () => {
    const server = await openHostileServer({ secure: true });
    server.on("/skill.tar.gz", answers.redirect("https://other.example.com/skill.tar.gz"));
    const names = { "skills.example.com": [[publicAddress]], "other.example.com": [["127.0.0.1"], [publicAddress]] };
    const { fetcher, connections } = openWorld({ names, server });
    const content: RemoteContent = { type: "archive", url: "https://skills.example.com/skill.tar.gz" };
    await expect(fetchSkillFiles(content, { fetcher, git, signal })).rejects.toThrow("resolves to a private address");
    expect(connections).toEqual([`${publicAddress}:443`]);
  });
});

test("what is fetched is held in memory: nothing that fetches or unpacks can write", () => {
  const remote = fileURLToPath(new URL("../../src/sources/", import.meta.url));
  const files = ["fetch", "archive"].flatMap((folder) => [
    `${remote}${folder}.ts`,
    ...readdirSync(`${remote}${folder}`).map((name) => `${remote}${folder}/${name}`),
  ]);
  expect(files).toHaveLength(10);
  for (const file of [...files, `${remote}reader/fetch-skill-files.ts`])
    expect(readFileSync(file, "utf8")).not.toMatch(/node:fs|child_process/);
});
