import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import {
  findGit,
  gitEnvironment,
  gitSettings,
  isRecent,
} from "../../../../../src/sources/reader/git/program/run-git.ts";
import { parseGitUrl } from "../../../../../src/sources/reader/git.ts";
import { packetLine } from "../../../../../src/wire/packet-lines.ts";
import { hasGit, whyNoGit } from "../git-server.ts";
import { openSource } from "../open-source.ts";

const program = { file: "/usr/bin/git", searchPath: "/usr/bin" };
const addresses = ["93.184.216.34", "2606:4700::1"];

test("git inherits nothing of ours but where its programs are", () => {
  process.env.GIT_DIR = "/elsewhere";
  const url = parseGitUrl("https://git.example.com/r.git");
  const env = gitEnvironment(program, "/home-of-it", { url, addresses });
  delete process.env.GIT_DIR;
  expect(env).not.toHaveProperty("GIT_DIR");
  expect(env).toMatchObject({ HOME: "/home-of-it", GIT_ALLOW_PROTOCOL: "https", GIT_CONFIG_NOSYSTEM: "1" });
  expect(gitEnvironment(program, "/home-of-it").GIT_ALLOW_PROTOCOL).toBe("");
});

test("git and ssh connect to the addresses that were checked", () => {
  const url = parseGitUrl("https://git.example.com:8443/r.git");
  expect(gitSettings({ url, addresses })).toContain(
    "http.curloptResolve=git.example.com:8443:93.184.216.34,[2606:4700::1]",
  );
  const ssh = parseGitUrl("ssh://git@git.example.com/r.git");
  const { GIT_SSH_COMMAND, GIT_ALLOW_PROTOCOL } = gitEnvironment(program, "/h", { url: ssh, addresses });
  expect(GIT_ALLOW_PROTOCOL).toBe("ssh");
  expect(GIT_SSH_COMMAND).toContain("-o HostName=93.184.216.34 -o HostKeyAlias=git.example.com");
});

test.each([
  ["git version 2.39.5", true],
  ["git version 2.37.0 (Apple Git-136)", true],
  ["git version 3.0.1.windows.1", true],
  ["git version 2.36.9", false],
  ["", false],
])("%j is recent enough: %s", (text, answer) => {
  expect(isRecent(text)).toBe(answer);
});

// Other systems have no second address of loopback.
test.skipIf(!hasGit || process.platform !== "linux")(
  `git really connects to the pinned address only${whyNoGit}`,
  async () => {
    const agents: string[] = [];
    const server = createServer((request, response) => {
      agents.push((request.headers["user-agent"] ?? "").split("/")[0] ?? "");
      const list = `${packetLine("# service=git-upload-pack\n")}0000${packetLine(`${"a".repeat(40)} refs/heads/main\n`)}0000`;
      response.writeHead(200, { "content-type": "application/x-git-upload-pack-advertisement" }).end(list);
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.2", ready));
    const { port } = server.address() as AddressInfo;
    const url = `http://localhost:${port}/r.git`;
    const source = openSource([url], { resolve: () => Promise.resolve(["127.0.0.2"]) });
    const reading = source.readGit(url, "a".repeat(40), "skills/a", new AbortController().signal);
    await expect(reading).rejects.toMatchObject({ name: "SkillsError" });
    expect(agents.slice(0, 2)).toEqual(["acp-skills", "git"]);
    await source.close();
    await new Promise((done) => server.close(done));
  },
);

test.skipIf(!hasGit)(`one allocation of git is limited${whyNoGit}`, async () => {
  const found = await findGit();
  const { GIT_ALLOC_LIMIT } = gitEnvironment(found ?? program, "/");
  expect(GIT_ALLOC_LIMIT).toBe("128m");
  // git knows the variable: a limit that nothing can keep stops it.
  const outcome = spawnSync(found?.file ?? "", ["hash-object", "--stdin"], {
    env: { PATH: found?.searchPath ?? "", GIT_ALLOC_LIMIT: "1k" },
    input: Buffer.alloc(64 * 1024),
    encoding: "utf8",
  });
  expect(outcome.stderr).toContain("over limit");
});
