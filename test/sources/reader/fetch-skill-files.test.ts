import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { toTarGz } from "../../../src/sources/archive.ts";
import { type FetchSkillFilesOptions, fetchSkillFiles } from "../../../src/sources/reader/fetch-skill-files.ts";
import { tarOf } from "../archive/tar-blocks.ts";
import { type HostileServer, answers, openHostileServer, openWorld } from "../hostile-server.ts";
import type { RemoteContent, SkillFile } from "../../../src/sources/reader.ts";

const signal = new AbortController().signal;
const git = (): never => expect.unreachable("git is not needed");
const digestOf = (bytes: Uint8Array | string): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

async function open(): Promise<{ server: HostileServer; read: (content: RemoteContent) => Promise<unknown> }> {
  const server = await openHostileServer();
  const { fetcher } = openWorld({ typed: [server.origin] });
  return { server, read: (content) => contentsOf(content, { fetcher, git, signal }) };
}

async function contentsOf(content: RemoteContent, options: FetchSkillFilesOptions): Promise<Record<string, string>> {
  const files = await fetchSkillFiles(content, options);
  return Object.fromEntries(files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()]));
}

test("reads a single SKILL.md and checks its digest in any letter case", async () => {
  const { server, read } = await open();
  const url = server.on("/SKILL.md", answers.bytes("hello"));
  expect(await read({ type: "skill-md", url })).toEqual({ "SKILL.md": "hello" });
  const digest = digestOf("hello").replace(/[a-f]+$/, (end) => end.toUpperCase());
  expect(await read({ type: "skill-md", url, digest })).toEqual({ "SKILL.md": "hello" });
  await expect(read({ type: "skill-md", url, digest: digestOf("") })).rejects.toThrow("is not what its index says");
});

describe("an archive", () => {
  const file = (path: string, text: string): SkillFile => ({ path, bytes: Buffer.from(text), executable: false });

  test("has SKILL.md at its root, in its one directory, or where its index says", async () => {
    const { server, read } = await open();
    const flat = await toTarGz([file("SKILL.md", "a"), file("b/c", "c")]);
    const url = server.on("/flat", answers.bytes(flat));
    expect(await read({ type: "archive", url, digest: digestOf(flat) })).toEqual({ "SKILL.md": "a", "b/c": "c" });
    const nested = server.on("/nested", answers.bytes(await toTarGz([file("x/SKILL.md", "a"), file("x/b/c", "c")])));
    expect(await read({ type: "archive", url: nested })).toEqual({ "SKILL.md": "a", "b/c": "c" });
    const many = server.on(
      "/many",
      answers.bytes(await toTarGz([file("skills/one/SKILL.md", "1"), file("skills/onetwo/SKILL.md", "2")])),
    );
    for (const directory of ["skills/one", "./skills/one/"])
      expect(await read({ type: "archive", url: many, directory })).toEqual({ "SKILL.md": "1" });
    await expect(read({ type: "archive", url: many })).rejects.toThrow("has no SKILL.md at its root");
  });

  test("may be marked as compressed, as static servers mark .gz, if the bytes that were sent have its digest", async () => {
    const { server, read } = await open();
    const packed = await toTarGz([file("SKILL.md", "a")]);
    const url = server.on("/a.tar.gz", answers.bytes(packed, { "content-encoding": "gzip" }));
    expect(await read({ type: "archive", url, digest: digestOf(packed) })).toEqual({ "SKILL.md": "a" });
    for (const digest of [undefined, digestOf(gunzipSync(packed))]) {
      const content = { type: "archive", url, ...(digest !== undefined && { digest }) } as const;
      await expect(read(content)).rejects.toThrow("sent a compressed answer (Content-Encoding)");
    }
  });

  test("may be plain tar", async () => {
    const { server, read } = await open();
    const url = server.on("/plain", answers.bytes(tarOf({ name: "SKILL.md", content: "a" })));
    expect(await read({ type: "archive", url })).toEqual({ "SKILL.md": "a" });
  });
});

describe("separate files", () => {
  test("are downloaded and checked one by one", async () => {
    const { server, read } = await open();
    const files = [
      { path: "SKILL.md", url: server.on("/SKILL.md", answers.bytes("a")), digest: digestOf("a") },
      { path: "b/c.txt", url: server.on("/c", answers.bytes("c")) },
    ];
    expect(await read({ type: "files", files })).toEqual({ "SKILL.md": "a", "b/c.txt": "c" });
    const wrong = files.map((each) => ({ ...each, digest: digestOf("a") }));
    await expect(read({ type: "files", files: wrong })).rejects.toThrow(
      '"b/c.txt" is not what its index says: its digest is',
    );
    server.on("/c", answers.status(404));
    await expect(read({ type: "files", files })).rejects.toThrow(/answered with status 404 for "b\/c\.txt"\.$/);
  });

  test("with unusable paths, or too many, are not even asked for", async () => {
    const { server, read } = await open();
    const url = server.on("/SKILL.md", answers.bytes("a"));
    for (const path of ["../x", "/x", ".git/config", ""])
      await expect(
        read({
          type: "files",
          files: [
            { path: "SKILL.md", url },
            { path, url },
          ],
        }),
      ).rejects.toThrow("The index has an unusable path");
    const many = Array.from({ length: 1_001 }, (_, index) => ({ path: `${index}`, url }));
    await expect(read({ type: "files", files: many })).rejects.toThrow("The skill has 1001 files; the limit is 1000.");
    expect(server.asked).toEqual([]);
  });

  test("that name one file twice, or no SKILL.md, are refused", async () => {
    const { server, read } = await open();
    const url = server.on("/SKILL.md", answers.bytes("a"));
    const twice = ["SKILL.md", "skill.md"].map((path) => ({ path, url }));
    await expect(read({ type: "files", files: twice })).rejects.toThrow("names the same file");
    await expect(read({ type: "files", files: [{ path: "README.md", url }] })).rejects.toThrow("has no SKILL.md");
  });

  test("are at most four downloads at a time", async () => {
    const { server, read } = await open();
    let running = 0;
    let most = 0;
    const files = Array.from({ length: 20 }, (_, index) => ({
      path: index === 0 ? "SKILL.md" : `${index}`,
      url: server.on(`/${index}`, (_request, response) => {
        running += 1;
        most = Math.max(most, running);
        setImmediate(() => {
          running -= 1;
          response.end("x");
        });
      }),
    }));
    await read({ type: "files", files });
    expect(most).toBeLessThanOrEqual(4);
  });
});

test("a git repository is read as its reference says, by the same rules", async () => {
  const { fetcher } = openWorld({});
  const content: RemoteContent = { type: "git", repository: "https://example.com/r", commit: "c", directory: "d" };
  const asked: unknown[] = [];
  const answer = (path: string): FetchSkillFilesOptions => ({
    fetcher,
    signal,
    git: () =>
      Promise.resolve({
        readGit(...question) {
          asked.push(question.slice(0, 3));
          const more = { path, bytes: Buffer.from("x"), executable: false };
          return Promise.resolve([{ path: "SKILL.md", bytes: Buffer.from("a"), executable: false }, more]);
        },
      }),
  });
  expect(await contentsOf(content, answer("x"))).toEqual({ "SKILL.md": "a", x: "x" });
  expect(asked).toEqual([["https://example.com/r", "c", "d"]]);
  await expect(fetchSkillFiles(content, answer("../x"))).rejects.toThrow("The skill has an unusable path");
});

test("what is not downloaded is refused with the reason", async () => {
  const { fetcher } = openWorld({});
  const read = (content: RemoteContent): Promise<unknown> => fetchSkillFiles(content, { fetcher, git, signal });
  await expect(read({ type: "unusable", why: "it is a plugin for another agent" })).rejects.toMatchObject({
    code: "SOURCE_INVALID",
    message: "The skill cannot be downloaded: it is a plugin for another agent.",
  });
  await expect(read({ type: "descriptor", url: "https://example.com/d" })).rejects.toThrow("was not read");
});
