import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { type GitProgram, findGit } from "../../../../src/sources/reader/git/program/run-git.ts";
import { manualClock } from "../../../manual-clock.ts";
import { type Contents, type GitServer, TestRepository, hasGit, serveGit, whyNoGit } from "./git-server.ts";
import { gitSourceOf, openSource, skillMd } from "./open-source.ts";

const signal = new AbortController().signal;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function repositoryOf(contents: Contents, ...init: string[]): TestRepository {
  const repository = new TestRepository(contents, ...init);
  ends.push(() => repository.remove());
  return repository;
}

async function serverOf(...args: Parameters<typeof serveGit>): Promise<GitServer> {
  const server = await serveGit(...args);
  ends.push(() => server.close());
  return server;
}

function sourceOf(...args: Parameters<typeof openSource>): ReturnType<typeof openSource> {
  const source = openSource(...args);
  ends.push(() => source.close());
  return source;
}

const testGit = test.skipIf(!hasGit);

test.each([
  "ext::sh -c 'touch /tmp/never'",
  "ext::sh%20-c%20touch%20/tmp/never",
  "file:///etc",
  "/etc",
  "../r.git",
  "git://example.com/r.git",
  "--upload-pack=touch /tmp/never",
  "-u./x",
  "https://example.com/--upload-pack=x".replace("https://example.com/", "--upload-pack=x https://example.com/"),
  "ssh://-oProxyCommand=touch%20x/r.git",
  "ssh://git@example.com/-oProxyCommand=x",
  "https://user:secret@example.com/r.git",
  "https://example.com/r.git?token=secret",
  "https://example.com/r.git\nhost=evil.example",
  "fd::17/foo",
])("never gives git the URL %j", async (url) => {
  const source = sourceOf([]);
  const reading = source.readGit(url, "a".repeat(40), "skills/a", signal);
  await expect(reading).rejects.toMatchObject({ code: "SOURCE_INVALID" });
  await expect(reading).rejects.not.toThrow(/secret/);
  expect(source.leftovers()).toEqual([]);
});

testGit.each([
  ["..", "hasDotdot"],
  [".git", "hasDotgit"],
  [".GIT", "hasDotgit"],
  ["git~1", "hasDotgit"],
  [".g\u200cit", "hasDotgit"],
])(`refuses a repository with a directory %j, before any content is read${whyNoGit}`, async (name, rule) => {
  const repository = repositoryOf({ "skills/a/SKILL.md": skillMd("a") });
  const inner = repository.git("rev-parse", "HEAD:skills/a");
  const commit = repository.commitRaw([{ mode: "40000", path: name, content: inner }]);
  const server = await serverOf({ r: repository.directory });
  const source = sourceOf([server.url]);
  const reading = source.readGit(`${server.url}/r.git`, commit, "skills/a", signal);
  await expect(reading).rejects.toMatchObject({ code: "SOURCE_INVALID" });
  await expect(reading).rejects.toThrow(rule);
  expect(source.leftovers()).toEqual([]);
});

testGit(`refuses only the skill that has a path which cannot be a file elsewhere${whyNoGit}`, async () => {
  const repository = repositoryOf({
    "skills/good/SKILL.md": skillMd("good"),
    "skills/bad/SKILL.md": skillMd("bad"),
    "skills/bad/a\\b.txt": "x",
    "skills/case/SKILL.md": skillMd("case"),
    "skills/case/Read.md": "x",
    "skills/case/read.md": "x",
  });
  const server = await serverOf({ r: repository.directory });
  const source = sourceOf([server.url]);
  const index = await source.readIndex(gitSourceOf(`${server.url}/r.git`), { signal });
  expect(index).toMatchObject({
    problems: ['"skills/bad" cannot be used: "skills/bad/a\\\\b.txt" contains a backslash.'],
  });
  const read = (name: string): Promise<unknown> =>
    source.readGit(`${server.url}/r.git`, repository.head, `skills/${name}`, signal);
  await expect(read("good")).resolves.toHaveLength(1);
  await expect(read("bad")).rejects.toMatchObject({ code: "SOURCE_INVALID" });
  await expect(read("case")).rejects.toThrow("names the same file");
  await expect(read("absent")).rejects.toMatchObject({ code: "SKILL_NOT_FOUND" });
});

testGit(`follows symlinks inside a skill only, and reports the others${whyNoGit}`, async () => {
  const repository = repositoryOf({
    "secret.txt": "outside of the skill",
    "skills/a/SKILL.md": skillMd("a"),
    "skills/a/docs/real.md": "real",
    "skills/a/inner.md": { link: "docs/../docs/real.md" },
    "skills/a/second.md": { link: "inner.md" },
    "skills/a/passwd": { link: "/etc/passwd" },
    "skills/a/above": { link: "../../secret.txt" },
    "skills/a/directory": { link: "docs" },
    "skills/a/loop": { link: "loop" },
    "skills/linked": { link: "a" },
    "skills/b/SKILL.md": { link: "../a/SKILL.md" },
  });
  const server = await serverOf({ r: repository.directory });
  const source = sourceOf([server.url]);
  const index = await source.readIndex(gitSourceOf(`${server.url}/r.git`), { signal });
  const dropped = ["above", "directory", "loop", "passwd"];
  expect(index).toMatchObject({
    skills: [{ name: "a" }],
    problems: dropped.map(
      (name) => `"skills/a/${name}" is a symlink to something that is not a file of the same skill; left out.`,
    ),
  });
  const files = await source.readGit(`${server.url}/r.git`, repository.head, "skills/a", signal);
  expect(Object.fromEntries(files.map(({ path: name, bytes }) => [name, Buffer.from(bytes).toString()]))).toEqual({
    "SKILL.md": skillMd("a"),
    "docs/real.md": "real",
    "inner.md": "real",
    "second.md": "real",
  });
});

testGit(`runs no filter, hook or helper: neither of the repository nor of the user${whyNoGit}`, async () => {
  const marker = mkdtempSync(path.join(tmpdir(), "acp-skills-test-marker-"));
  ends.push(() => rmSync(marker, { recursive: true }));
  const ran = path.join(marker, "ran");
  const touch = `touch ${ran}`;
  const config = [
    `[filter "evil"]\n\tsmudge = ${touch}\n\tclean = ${touch}\n\tprocess = ${touch}\n\trequired = true`,
    `[core]\n\tfsmonitor = ${touch}\n\thooksPath = ${marker}/hooks\n\tsshCommand = ${touch}\n\tgitProxy = ${touch}`,
    `[credential]\n\thelper = !${touch}`,
    `[url "ext::sh -c '${touch}'"]\n\tinsteadOf = http://`,
    `[protocol]\n\tallow = always`,
    `[init]\n\ttemplateDir = ${marker}/template`,
  ].join("\n");
  writeFileSync(path.join(marker, ".gitconfig"), `${config}\n`);
  mkdirSync(path.join(marker, "hooks"));
  for (const hook of ["post-checkout", "reference-transaction", "post-index-change"])
    writeFileSync(path.join(marker, "hooks", hook), `#!/bin/sh\n${touch}\n`, { mode: 0o755 });
  const text = "line\n$Id$ $Format:%H$\n";
  const repository = repositoryOf({
    "skills/a/SKILL.md": skillMd("a"),
    "skills/a/text.txt": text,
  });
  repository.commit({ ".gitattributes": "*.txt filter=evil ident export-subst eol=crlf\nskills export-ignore\n" });
  const server = await serverOf({ r: repository.directory });
  const source = sourceOf([server.url]);
  const before = { ...process.env };
  ends.push(() => (process.env = before));
  Object.assign(process.env, {
    HOME: marker,
    XDG_CONFIG_HOME: marker,
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "core.fsmonitor",
    GIT_CONFIG_VALUE_0: touch,
    GIT_SSH_COMMAND: touch,
    GIT_DIR: repository.directory,
    GIT_EXEC_PATH: marker,
    GIT_TRACE: ran,
    http_proxy: "http://127.0.0.1:9",
  });
  const files = await source.readGit(`${server.url}/r.git`, repository.head, "skills/a", signal);
  expect(Buffer.from(files.find(({ path: name }) => name === "text.txt")!.bytes).toString()).toBe(text);
  expect(existsSync(ran)).toBe(false);
});

testGit(`leaves submodules alone: their hosts are not asked${whyNoGit}`, async () => {
  const asked: string[] = [];
  const other = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(404).end();
  });
  await new Promise<void>((ready) => other.listen(0, "127.0.0.1", ready));
  ends.push(() => new Promise((done) => other.close(done)));
  const { port } = other.address() as AddressInfo;
  const repository = repositoryOf({ "skills/a/SKILL.md": skillMd("a") });
  repository.git("update-index", "--add", "--cacheinfo", `160000,${repository.head},skills/a/sub`);
  const commit = repository.commit({
    ".gitmodules": `[submodule "sub"]\n\tpath = skills/a/sub\n\turl = http://127.0.0.1:${port}/sub.git\n`,
  });
  const server = await serverOf({ r: repository.directory });
  const source = sourceOf([server.url, `http://127.0.0.1:${port}`]);
  const files = await source.readGit(`${server.url}/r.git`, commit, "skills/a", signal);
  expect(files.map(({ path: name }) => name)).toEqual(["SKILL.md"]);
  expect(asked).toEqual([]);
});

testGit(`stops at the limits on files, on one skill and on bytes, and leaves nothing on disk${whyNoGit}`, async () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`skills/a/${index}.txt`, `${index}`]));
  const repository = repositoryOf({ "skills/a/SKILL.md": skillMd("a"), ...many });
  const server = await serverOf({ r: repository.directory });
  const read = (limits: object): Promise<unknown> => {
    const source = sourceOf([server.url], { limits });
    return source.readGit(`${server.url}/r.git`, repository.head, "skills/a", signal).catch((error: unknown) => {
      expect(source.leftovers()).toEqual([]);
      throw error;
    });
  };
  await expect(read({ files: 50 })).rejects.toMatchObject({ code: "FILE_TOO_LARGE" });
  await expect(read({ listBytes: 2_000 })).rejects.toMatchObject({ code: "FILE_TOO_LARGE" });
  await expect(read({})).resolves.toHaveLength(61);
});

testGit(`kills git when what it fetches takes too much disk${whyNoGit}`, async () => {
  const clock = manualClock();
  const repository = repositoryOf({ "skills/a/SKILL.md": skillMd("a") });
  let send: (() => void) | undefined;
  // A pack that never ends: the first object announces a gigabyte.
  const server = await serverOf({ r: repository.directory }, (request, response) => {
    if (request.method !== "POST" || request.headers["user-agent"]?.startsWith("git/") !== true) return false;
    response.writeHead(200, { "content-type": "application/x-git-upload-pack-result" });
    const band = (bytes: Buffer): Buffer => {
      const line = Buffer.concat([Buffer.from([1]), bytes]);
      return Buffer.concat([Buffer.from((line.length + 4).toString(16).padStart(4, "0")), line]);
    };
    request.resume();
    response.write("000dpackfile\n");
    response.write(
      band(
        Buffer.concat([
          Buffer.from("PACK\0\0\0\x02\0\0\0\x01"),
          Buffer.from([0xb0, 0x80, 0x80, 0x80, 0x20, 0x78, 0x01]),
        ]),
      ),
    );
    // Stored deflate blocks of zeros.
    const block = Buffer.concat([Buffer.from([0, 0xff, 0xf0, 0, 0x0f]), Buffer.alloc(0xf0ff)]);
    send = () => {
      while (response.write(band(block)));
      response.once("drain", () => send?.());
    };
    send();
    return true;
  });
  const source = sourceOf([server.url], { clock, limits: { diskBytes: 1_000_000 } });
  const reading = source.readGit(`${server.url}/r.git`, repository.head, "skills/a", signal);
  const ticking = setInterval(() => clock.pass(100), 20);
  ends.push(() => clearInterval(ticking));
  await expect(reading).rejects.toMatchObject({ code: "FILE_TOO_LARGE" });
  send = undefined;
  expect(source.leftovers()).toEqual([]);
});

testGit(`kills git at the deadline when the server answers slowly for ever${whyNoGit}`, async () => {
  const clock = manualClock();
  const repository = repositoryOf({ "skills/a/SKILL.md": skillMd("a") });
  const server = await serverOf({ r: repository.directory }, (request, response) => {
    if (request.method !== "POST" || request.headers["user-agent"]?.startsWith("git/") !== true) return false;
    response.writeHead(200, { "content-type": "application/x-git-upload-pack-result" }).write("000d");
    setImmediate(() => clock.pass(120_000));
    return true;
  });
  const source = sourceOf([server.url], { clock });
  const reading = source.readGit(`${server.url}/r.git`, repository.head, "skills/a", signal);
  await expect(reading).rejects.toMatchObject({ code: "EXECUTION_TIMEOUT" });
  expect(source.leftovers()).toEqual([]);
});

testGit(`stops git when the caller gives up${whyNoGit}`, async () => {
  const giveUp = new AbortController();
  const repository = repositoryOf({ "skills/a/SKILL.md": skillMd("a") });
  const server = await serverOf({ r: repository.directory }, (request) => {
    if (request.headers["user-agent"]?.startsWith("git/") !== true) return false;
    giveUp.abort(new Error("given up"));
    return true;
  });
  const source = sourceOf([server.url]);
  const reading = source.readGit(`${server.url}/r.git`, repository.head, "skills/a", giveUp.signal);
  await expect(reading).rejects.toThrow("given up");
  await source.close();
});

testGit(`does not follow git's own redirects, which nobody checked${whyNoGit}`, async () => {
  const repository = repositoryOf({ "skills/a/SKILL.md": skillMd("a") });
  const hidden = await serverOf({ r: repository.directory });
  const server = await serverOf({ r: repository.directory }, (request, response) => {
    if (request.headers["user-agent"]?.startsWith("git/") !== true) return false;
    response.writeHead(302, { location: `${hidden.url}${request.url ?? ""}` }).end();
    return true;
  });
  const source = sourceOf([server.url]);
  const reading = source.readGit(`${server.url}/r.git`, repository.head, "skills/a", signal);
  await expect(reading).rejects.toMatchObject({ code: "ENDPOINT_UNREACHABLE" });
  expect(hidden.requests).toEqual([]);
});

testGit(`follows a redirect only where the address rules allow it${whyNoGit}`, async () => {
  const repository = repositoryOf({ "skills/a/SKILL.md": skillMd("a") });
  const moved = await serverOf({ r: repository.directory });
  const to = { base: moved.url };
  const server = await serverOf({}, (request, response) => {
    response.writeHead(301, { location: `${to.base}${request.url ?? ""}` }).end();
    return true;
  });
  const source = sourceOf([server.url, moved.url]);
  const read = (): Promise<unknown> => source.readGit(`${server.url}/r.git`, repository.head, "skills/a", signal);
  to.base = "http://169.254.169.254";
  await expect(read()).rejects.toMatchObject({ code: "ENDPOINT_UNREACHABLE" });
  to.base = "file://";
  await expect(read()).rejects.toMatchObject({ code: "ENDPOINT_UNREACHABLE" });
  to.base = moved.url;
  await expect(read()).resolves.toHaveLength(1);
});

testGit(
  `refuses a commit that the repository does not have, and content that is another commit${whyNoGit}`,
  async () => {
    const repository = repositoryOf({ "skills/a/SKILL.md": skillMd("a") });
    const other = repositoryOf({ "skills/a/SKILL.md": skillMd("evil") });
    const server = await serverOf({ r: repository.directory });
    const source = sourceOf([server.url]);
    const missing = source.readGit(`${server.url}/r.git`, "1".repeat(40), "skills/a", signal);
    await expect(missing).rejects.toMatchObject({ code: "SOURCE_INVALID" });

    // Lists the refs of one repository, and sends the objects of another.
    const lying = await serverOf({ r: other.directory }, (request, response) => {
      if (request.headers["user-agent"]?.startsWith("git/") !== true || request.method === "GET") return false;
      const body: Buffer[] = [];
      request.on("data", (chunk: Buffer) => body.push(chunk));
      request.on("end", () => {
        const text = Buffer.concat(body).toString("latin1").replaceAll(repository.head, other.head);
        void forward(text, request.headers["git-protocol"], response);
      });
      return true;
    });
    const forward = async (text: string, protocol: unknown, response: ServerResponse): Promise<void> => {
      const answer = await fetch(`${lying.url}/r/git-upload-pack`, {
        method: "POST",
        headers: { "git-protocol": String(protocol), "content-type": "application/x-git-upload-pack-request" },
        body: text,
      });
      response.writeHead(200, { "content-type": "application/x-git-upload-pack-result" });
      response.end(Buffer.from(await answer.arrayBuffer()));
    };
    const liar = sourceOf([lying.url]);
    const reading = liar.readGit(`${lying.url}/r.git`, repository.head, "skills/a", signal);
    await expect(reading).rejects.toMatchObject({ name: "SkillsError" });
    expect(liar.leftovers()).toEqual([]);
  },
);

testGit(`refuses a file that is huge and packs small, before its content is read${whyNoGit}`, async () => {
  const repository = repositoryOf({
    "skills/big/SKILL.md": skillMd("big"),
    "skills/big/zeros.bin": Buffer.alloc(60 * 1024 * 1024),
    "skills/small/SKILL.md": skillMd("small"),
  });
  const server = await serverOf({ r: repository.directory });
  const source = sourceOf([server.url]);
  const read = (name: string): Promise<unknown> =>
    source.readGit(`${server.url}/r.git`, repository.head, `skills/${name}`, signal);
  await expect(read("big")).rejects.toMatchObject({ code: "FILE_TOO_LARGE" });
  await expect(read("small")).resolves.toHaveLength(1);
});

testGit(`makes what a server says safe to show${whyNoGit}`, async () => {
  const repository = repositoryOf({ "skills/a/SKILL.md": skillMd("a") });
  const server = await serverOf({ r: repository.directory }, (request, response) => {
    if (request.method !== "POST" || request.headers["user-agent"]?.startsWith("git/") !== true) return false;
    const text = "ERR \u001b[2J\u001b]0;owned\u0007 see https://user:secret@example.com/\n";
    const length = (Buffer.byteLength(text) + 4).toString(16).padStart(4, "0");
    response.writeHead(200, { "content-type": "application/x-git-upload-pack-result" }).end(`${length}${text}`);
    return true;
  });
  const source = sourceOf([server.url]);
  const reading = source.readGit(`${server.url}/r.git`, repository.head, "skills/a", signal);
  const error: unknown = await reading.catch((thrown: unknown) => thrown);
  expect(String(error)).toContain("git said: ");
  expect(String(error)).not.toMatch(/[\u0000-\u001f]|secret/);
});

// ssh runs a program of PATH, here one of ours.
test.skipIf(!hasGit || process.platform === "win32")(
  `reads over ssh what a person names so, without questions and with a known host${whyNoGit}`,
  async () => {
    const repository = repositoryOf({ "skills/a/SKILL.md": skillMd("a") });
    const bin = mkdtempSync(path.join(tmpdir(), "acp-skills-test-ssh-"));
    ends.push(() => rmSync(bin, { recursive: true }));
    const script = `#!/bin/sh\necho "$@" >> ${bin}/calls\nexec git upload-pack ${repository.directory}\n`;
    writeFileSync(path.join(bin, "ssh"), script, { mode: 0o755 });
    const findProgram = async (): Promise<GitProgram | undefined> =>
      await findGit({ PATH: `${bin}:${process.env.PATH ?? ""}` });
    const url = "ssh://git@git.example.com/o/r.git";
    const open = (addresses: readonly string[]): ReturnType<typeof openSource> =>
      sourceOf([], { findProgram, resolve: () => Promise.resolve(addresses) });
    const privately = open(["10.0.0.1"]).readIndex(gitSourceOf(url), { signal });
    await expect(privately).rejects.toMatchObject({ code: "ENDPOINT_UNREACHABLE" });
    expect(existsSync(path.join(bin, "calls"))).toBe(false);
    const index = await open(["93.184.216.34"]).readIndex(gitSourceOf(url), { signal });
    expect(index).toMatchObject({ commit: repository.head, skills: [{ name: "a" }] });
    const [first] = readFileSync(path.join(bin, "calls"), "utf8").split("\n");
    expect(first).toBe(
      [
        ...["-o BatchMode=yes -o StrictHostKeyChecking=yes -o ForwardAgent=no -o PermitLocalCommand=no"],
        ...["-o HostName=93.184.216.34 -o HostKeyAlias=git.example.com -o SendEnv=GIT_PROTOCOL git@git.example.com"],
        "git-upload-pack '/o/r.git'",
      ].join(" "),
    );
  },
);
