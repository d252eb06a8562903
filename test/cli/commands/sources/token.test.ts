import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { toTarGz } from "../../../../src/sources/archive.ts";
import { type CliRun, runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();
const secret = "s3cr3t-of-ada-0123456789";
const env = { ADA_TOKEN: secret };
const cli = (...args: string[]): Promise<CliRun> => runCli(args, { cwd: project.directory, env });

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** The authorization of each request is recorded. */
async function open(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly origin: string; readonly seen: (string | undefined)[] }> {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** A source that answers who has the token, with the archive of its skill at `place`. */
async function openPrivate(place: (path: string) => string): Promise<Awaited<ReturnType<typeof open>>> {
  const archive = await toTarGz([{ path: "SKILL.md", bytes: Buffer.from(skillText("alpha")), executable: false }]);
  const digest = `sha256:${createHash("sha256").update(archive).digest("hex")}`;
  const skill = { name: "alpha", type: "archive", description: "Does alpha.", digest, url: place("/alpha.tar.gz") };
  const index = { $schema: "https://schemas.agentskills.io/discovery/0.2.0/schema.json", skills: [skill] };
  return await open((request, response) => {
    if (request.headers.authorization !== `Bearer ${secret}`) response.writeHead(401).end();
    else if (request.url === "/alpha.tar.gz") response.end(archive);
    else if (request.url === "/.well-known/agent-skills/index.json") response.end(JSON.stringify(index));
    else response.writeHead(404).end();
  });
}

test("a private source is read with the token of a variable, which is in no output, lock or ledger", async () => {
  const { origin } = await openPrivate((path) => path);
  const without = await cli("add", origin, "--yes");
  expect(without.code).toBe(3);
  expect(without.stderr).toContain(
    "--token env:NAME of acp-skills add, update, discover and find, or the URL of a share (/s/TOKEN/)",
  );
  const runs = [
    await cli("discover", origin, "--token", "env:ADA_TOKEN"),
    await cli("find", "alpha", "--source", origin, "--token", "env:ADA_TOKEN"),
    await cli("add", origin, "--yes", "--token", "env:ADA_TOKEN"),
    await cli("outdated", "--source", origin, "--token", `${origin}=env:ADA_TOKEN`),
    await cli("update", "--source", origin, "--token", "env:ADA_TOKEN"),
    await cli("ledger", "--json"),
  ];
  for (const { code, stdout, stderr } of runs)
    expect([code, stdout + stderr]).toEqual([0, expect.not.stringContaining(secret)]);
  expect(runs[0]?.stdout).toMatch(/^alpha /m);
  expect(readFileSync(project.at("skills-lock.json"), "utf8")).not.toContain(secret);
});

test("is not sent to another origin: not to what the source lists there, nor after a redirect", async () => {
  const other = await open((_request, response) => response.writeHead(404).end());
  const listing = await openPrivate((path) => `${other.origin}${path}`);
  await cli("add", listing.origin, "--yes", "--token", "env:ADA_TOKEN", "--allow-private", new URL(other.origin).host);
  const redirecting = await open((_request, response) =>
    response.writeHead(302, { location: `${other.origin}/x` }).end(),
  );
  await cli("discover", redirecting.origin, "--token", "env:ADA_TOKEN", "--allow-private", new URL(other.origin).host);
  expect(redirecting.seen).toContain(`Bearer ${secret}`);
  expect(other.seen.length).toBeGreaterThan(0);
  expect(other.seen.filter((header) => header !== undefined)).toEqual([]);
});

test("is never sent to whom only a project's lock names", async () => {
  const { origin, seen } = await openPrivate((path) => path);
  const here = ["--allow-private", new URL(origin).host];
  const lock = { version: 1, skills: { alpha: { source: "x", sourceType: "well-known", sourceUrl: origin, computedHash: "0".repeat(64) } } }; // prettier-ignore
  project.write("skills-lock.json", JSON.stringify(lock));
  for (const command of [["update"], ["outdated"], ["add", "--frozen"]]) {
    const { code, stderr } = await cli(...command, ...here, "--token", "env:ADA_TOKEN");
    expect([code, stderr]).toEqual([2, expect.stringContaining("you named no source over HTTP here; say whose it is")]);
  }
  expect(seen).toEqual([]);
  await cli("outdated", ...here, "--token", `${origin}=env:ADA_TOKEN`);
  expect(seen).toContain(`Bearer ${secret}`);
});

test.each([
  [[secret], "--token needs env:NAME or https://HOST=env:NAME"],
  [["env:NO_SUCH"], "--token env:NO_SUCH: there is no such variable"],
  [["ftp://x=env:ADA_TOKEN"], "--token needs env:NAME"],
])("--token %j is refused, and is not repeated where it may be one", async (tokens, message) => {
  const { code, stderr } = await cli("discover", "http://127.0.0.1:9", ...tokens.flatMap((one) => ["--token", one]));
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  expect(stderr).not.toContain(secret);
});

test("of several sources, the token says whose it is", async () => {
  const sources = ["--source", "http://127.0.0.1:9", "--source", "http://127.0.0.1:10"];
  const { code, stderr } = await cli("find", "alpha", ...sources, "--token", "env:ADA_TOKEN");
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining("there are several sources; say whose it is:\n  https://HOST=env:ADA_TOKEN"),
  ]);
});
