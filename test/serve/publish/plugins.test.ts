import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { commitGraceMs } from "../../../src/serve/publish/plugins/repositories.ts";
import { recheckMs } from "../../../src/serve/publish/made-of-skills.ts";
import { newToken, toTokenDigest } from "../../../src/wire/http.ts";
import { type Answered, type OpenServer, openServer } from "../open-server.ts";

const skillOf = (name: string): string => `---\nname: ${name}\ndescription: Does ${name}.\n---\n# ${name}\n`;
const license = "Everybody may use this.\n".repeat(5_000);
const skills = {
  "plain/SKILL.md": skillOf("plain"),
  "plain/LICENSE": license,
  "tools/SKILL.md": skillOf("tools"),
  "tools/LICENSE": license,
  "tools/scripts/run.sh": "#!/bin/sh\necho hello\n",
  "tools/scripts.txt": "run.sh\n",
  "tools/assets/a & b.bin": new Uint8Array([0, 255, 1]),
  "hidden/SKILL.md": skillOf("hidden"),
};
const access = { default: "private", public: ["plain", "tools"], restricted: [], private: [] } as const;
const provider = { name: "Example", domain: "com.example" };
const token = newToken();
const shares = [{ name: "team", tokenDigest: toTokenDigest(token), skills: ["hidden"] }];

let ms = 0;
const clock = { ...systemClock, now: () => systemClock.now() + ms };
let server: OpenServer;
let place: string;

beforeEach(async () => {
  server = await openServer({ skills, access, provider, shares, clock });
  place = realpathSync(mkdtempSync(join(tmpdir(), "acp-skills-git-")));
});
afterEach(async () => {
  await server.close();
  rmSync(place, { recursive: true, force: true, maxRetries: 10 });
});

const refs = "/plugins.git/info/refs?service=git-upload-pack";
const line = (text: string): string => (text.length + 4).toString(16).padStart(4, "0") + text;
const commitOf = ({ text }: Answered): string => /[0-9a-f]{40}(?= HEAD)/.exec(text)?.[0] ?? "";
const ask = (commit: string, path = "/plugins.git/git-upload-pack"): Promise<Answered> =>
  server.send(path, {
    method: "POST",
    headers: { "content-type": "application/x-git-upload-pack-request" },
    body: `${line(`want ${commit}\n`)}0000${line("done\n")}`,
  });

describe.skipIf(!hasGit())("git (skipped where it is not installed)", () => {
  test.each([["all of it", []] as const, ["--depth 1", ["--depth", "1"]] as const])(
    "clones the public skills as plugins, byte for byte: %s",
    async (_name, options) => {
      await git(["clone", "-q", ...options, `${server.url}/plugins.git`, "clone"]);
      const clone = join(place, "clone");
      expect(filesOf(clone)).toEqual([
        ".claude-plugin/marketplace.json",
        "plugins/plain/plugin.json",
        "plugins/plain/skills/plain/LICENSE",
        "plugins/plain/skills/plain/SKILL.md",
        "plugins/tools/plugin.json",
        "plugins/tools/skills/tools/LICENSE",
        "plugins/tools/skills/tools/SKILL.md",
        "plugins/tools/skills/tools/assets/a & b.bin",
        "plugins/tools/skills/tools/scripts.txt",
        "plugins/tools/skills/tools/scripts/run.sh",
      ]);
      for (const [path, content] of Object.entries(skills)) {
        const [name] = path.split("/");
        if (name === "hidden") continue;
        expect(readFileSync(join(clone, "plugins", name!, "skills", path))).toEqual(Buffer.from(content as string));
      }
      expect(JSON.parse(readFileSync(join(clone, "plugins/tools/plugin.json"), "utf8"))).toEqual({
        $schema: "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json",
        name: "tools",
        description: "Does tools.",
      });
      const { plugins } = JSON.parse(readFileSync(join(clone, ".claude-plugin/marketplace.json"), "utf8")) as {
        plugins: { source: string }[];
      };
      expect(plugins.map(({ source }) => source)).toEqual(["./plugins/plain", "./plugins/tools"]);
      expect((await git(["ls-tree", "-r", "HEAD"], clone)).match(/100755 blob .*/g)).toEqual([
        expect.stringContaining("scripts/run.sh"),
      ]);
      expect(await git(["fsck", "--strict"], clone)).not.toMatch(/error|warning|missing/);
    },
  );

  test("accepts the objects of a clone that checks them", async () => {
    await git(["-c", "transfer.fsckObjects=true", "clone", "-q", `${server.url}/plugins.git`, "clone"]);
    expect(readdirSync(join(place, "clone/plugins"))).toEqual(["plain", "tools"]);
  });

  test("fetches an edit into a clone", async () => {
    await git(["clone", "-q", "--depth", "1", `${server.url}/plugins.git`, "clone"]);
    server.writeFile("tools/scripts/run.sh", "#!/bin/sh\necho goodbye\n");
    ms += recheckMs;
    const clone = join(place, "clone");
    await git(["fetch", "-q", "--depth", "1", "origin", "main"], clone);
    expect(await git(["show", "FETCH_HEAD:plugins/tools/skills/tools/scripts/run.sh"], clone)).toContain("goodbye");
    server.writeFile("tools/scripts/run.sh", "#!/bin/sh\necho once more\n");
    ms += recheckMs;
    await git(["fetch", "-q", "origin", "main"], clone);
    expect(await git(["show", "FETCH_HEAD:plugins/tools/skills/tools/scripts/run.sh"], clone)).toContain("once more");
  });

  test("clones a share by its path, and nothing by a wrong one", async () => {
    await git(["clone", "-q", `${server.url}/s/${token}/plugins.git`, "clone"]);
    expect(readdirSync(join(place, "clone/plugins"))).toEqual(["hidden"]);
    await expect(git(["clone", "-q", `${server.url}/s/${newToken()}/plugins.git`, "other"])).rejects.toThrow(
      "not found",
    );
  });

  test("pushes nothing", async () => {
    await git(["clone", "-q", `${server.url}/plugins.git`, "clone"]);
    await expect(git(["push", "origin", "HEAD:other"], join(place, "clone"))).rejects.toThrow("403");
  });
});

test("a commit that was replaced can be had for a time, unless one of its skills was withdrawn", async () => {
  const before = commitOf(await server.send(refs));
  server.writeFile("tools/scripts/run.sh", "#!/bin/sh\necho goodbye\n");
  ms += recheckMs;
  const after = commitOf(await server.send(refs));
  expect(after).not.toBe(before);
  expect((await ask(before)).text.slice(0, 12)).toBe("0008NAK\nPACK");
  expect((await ask(after)).text.slice(0, 12)).toBe("0008NAK\nPACK");
  ms += commitGraceMs;
  expect((await ask(before)).text).toContain(`ERR upload-pack: not our ref ${before}`);

  server.removeSkill("tools");
  await expect.poll(async () => commitOf(await server.send(refs))).not.toBe(after);
  expect((await ask(after)).text).toContain("not our ref");
});

test("one audience's commit is not another's", async () => {
  const shared = commitOf(await server.send(`/s/${token}${refs}`));
  expect((await ask(shared)).text).toContain("not our ref");
  expect((await ask(shared, `/s/${token}/plugins.git/git-upload-pack`)).text).toContain("PACK");
});

test("only reading is served, and only small requests of git", async () => {
  const pack = "/plugins.git/git-upload-pack";
  const type = { "content-type": "application/x-git-upload-pack-request" };
  const packed = { ...type, "content-encoding": "gzip" };
  const statusOf = async (path: string, sent: Parameters<OpenServer["send"]>[1] = {}): Promise<number> =>
    (await server.send(path, sent)).status;
  expect(await statusOf("/plugins.git/info/refs?service=git-receive-pack")).toBe(403);
  expect(await statusOf("/plugins.git/info/refs")).toBe(403);
  expect(await statusOf("/plugins.git/HEAD")).toBe(404);
  expect(await statusOf("/plugins.git/git-receive-pack", { method: "POST" })).toBe(404);
  expect(await statusOf(pack)).toBe(405);
  expect(await statusOf(pack, { method: "POST", body: "0000" })).toBe(415);
  expect(await statusOf(pack, { method: "POST", headers: type, body: "nothing" })).toBe(400);
  expect(await statusOf(pack, { method: "POST", headers: type, body: "0".repeat(300_000) })).toBe(413);
  expect(await statusOf(pack, { method: "POST", headers: packed, body: gzipSync("0".repeat(50_000_000)) })).toBe(413);
  expect(await statusOf(pack, { method: "POST", headers: packed, body: "no gzip" })).toBe(400);
});

test("the catalog alone names the repository below the path by which it was asked for", async () => {
  for (const path of ["/marketplace.json", "/.claude-plugin/marketplace.json"])
    for (const prefix of ["", `/s/${token}`]) {
      const { text, headers } = await server.send(prefix + path);
      const catalog = JSON.parse(text) as { name: string; plugins: { name: string; source: { url: string } }[] };
      expect(catalog.name).toBe(prefix === "" ? "skills-example-com" : "skills-example-com-team");
      expect(catalog.plugins.map(({ name }) => name)).toEqual(prefix === "" ? ["plain", "tools"] : ["hidden"]);
      expect(catalog.plugins[0]?.source.url).toBe(`${server.url}${prefix}/plugins.git`);
      expect(headers["cache-control"]).toBe(prefix === "" ? "public, no-cache" : "private, no-cache");
      expect(await server.send(prefix + path, { headers: { "if-none-match": headers.etag! } })).toMatchObject({
        status: 304,
      });
    }
  expect(await server.send(`/s/${newToken()}/marketplace.json`)).toMatchObject({ status: 404 });
});

function hasGit(): boolean {
  try {
    execFileSync("git", ["--version"]);
    return true;
  } catch {
    return false;
  }
}

/** Without the configuration of this machine. */
async function git(args: readonly string[], cwd = place): Promise<string> {
  const env = { PATH: process.env["PATH"], HOME: place, GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0" };
  const { stdout, stderr } = await promisify(execFile)("git", [...args], { cwd, env });
  return stdout + stderr;
}

function filesOf(directory: string): readonly string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(directory.length + 1))
    .filter((path) => !path.startsWith(".git/"))
    .sort();
}
