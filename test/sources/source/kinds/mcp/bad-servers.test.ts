import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { type RemoteIndex, type SourceLister, openSourceReader } from "../../../../../src/sources/reader.ts";
import { type Source, parseSource } from "../../../../../src/sources/source.ts";
import { ProgramTransport } from "../../../../../src/sources/source/kinds/mcp/program-transport.ts";
import { pidExists } from "../../../../../src/base/processes/live-process.ts";
import { manualClock } from "../../../../manual-clock.ts";
import { type Answer, answers, openHostileServer } from "../../../hostile-server.ts";

const { signal } = new AbortController();
const hostile = fileURLToPath(new URL("hostile-server.js", import.meta.url));

function sourceOf(...mode: readonly string[]): Source {
  return parseSource(`mcp:${[process.execPath, hostile, ...mode].map((word) => `"${word}"`).join(" ")}`);
}

function readerOf(options: Partial<Parameters<typeof openSourceReader>[0]> = {}): SourceLister {
  const reader = openSourceReader({ allowPrivate: [], ownAddresses: () => [], ...options });
  onTestFinished(() => reader.close());
  return reader;
}

async function read(source: Source, reader = readerOf()): Promise<RemoteIndex> {
  const index = await reader.read(source, undefined, signal);
  if (index === undefined) throw new Error("not asked whether it changed");
  return index;
}

async function readFiles(...mode: readonly string[]): Promise<readonly string[]> {
  const reader = readerOf();
  const [alpha] = (await read(sourceOf(...mode), reader)).skills;
  if (alpha === undefined) throw new Error("There is no skill.");
  return (await reader.skillFiles(alpha, signal)).map(({ path }) => path);
}

test("a server that prints other things than messages, or ends when it is asked for a newer revision, is read", async () => {
  expect(await readFiles("noise")).toEqual(["SKILL.md", "a.md"]);
  expect(await readFiles("strict")).toEqual(["SKILL.md", "a.md"]);
});

test.each([
  ["without", "The server has no skills: it does not declare MCP's Skills extension."],
  ["error", "The server answered with an error: no [31mdatabase."],
  ["ends", "The program ended with the exit code 3 before it had answered; the end of what it said: Cannot find [31mmodule."], // prettier-ignore
  ["endless-pages", "The server lists its skills in more than 100 pages, the limit."],
  ["many-values", "The program sent a message of more than 200000 keys and values, the limit."],
  ["long-line", "The program sent a message of more than 33554432 bytes, the limit."],
])("a server that is %s is refused with a sentence", async (mode, why) => {
  await expect(read(sourceOf(mode))).rejects.toThrow(why);
});

test.each([
  ["changing", 'The server changed "skill://alpha/SKILL.md" after it had listed it; look again at what it offers.'],
  ["wrong-digest", '"a.md" is refused: it has another digest than the server lists.'],
  ["wrong-size", '"a.md" is refused: it has another size than the server lists.'],
  ["frontmatter", '"SKILL.md" is refused: its frontmatter is not what the server lists.'],
  ["other-file", "resources/read returned no contents for skill://alpha/"],
  ["dies", "The program ended with the exit code 0 before it had answered."],
])("a skill of a server that is %s is refused with a sentence", async (mode, why) => {
  await expect(readFiles(mode)).rejects.toThrow(why);
});

test.each<[readonly string[], string]>([
  [["dynamic"], "its server generates it anew each time, without digests, so nothing says what would be installed"],
  [["huge-entry"], "it has 60000047 bytes; the limit is 52428800"],
  [["many-files"], "it has 1201 files; the limit is 1000"],
  [["path", "../b"], 'the path of "skill://alpha/../b" has a segment ..'],
  [["path", ".git/config"], 'the path of "skill://alpha/.git/config" leads into a directory of git'],
  [["path", "a%5Cb"], 'the path of "skill://alpha/a%5Cb" contains a backslash'],
  [["path", "con"], 'has the segment "con", which is a device on Windows'],
])("of a server that is %s, the skill is listed and cannot be installed", async (mode, why) => {
  const { skills, problems } = await read(sourceOf(...mode));
  const [alpha] = skills;
  expect(problems).toEqual([]);
  expect(alpha?.content).toEqual({ type: "unusable", why: expect.stringContaining(why) as string });
});

test("a list that changes while it is read, and entries that are invalid, are reported, and what was known stays", async () => {
  const moving = await read(sourceOf("moving-list"));
  expect(moving).toMatchObject({ skills: [], isPartial: true });
  expect(moving.problems[0]).toBe(
    '"skill://alpha/SKILL.md" was listed more than once: the server may have changed its list while it was read; left out.',
  );
  const invalid = await read(sourceOf("invalid"));
  expect(invalid.problems).toHaveLength(3);
  expect(invalid.problems[0]).toMatch(/^"skill:\/\/alpha\/SKILL\.md" is left out: resources: /);
  expect(invalid.isPartial).toBeUndefined();
  for (const path of ["x%2f..%2fy", "a?b"])
    expect((await read(sourceOf("path", path))).problems).toEqual([
      expect.stringMatching(/^"skill:\/\/alpha\/SKILL\.md" is left out: resource "skill:/),
    ]);
});

test("two skills of one name are distinguished by their paths", async () => {
  const { skills } = await read(sourceOf("same-names"));
  expect(skills.map(({ name }) => name)).toEqual(["refunds", "support-refunds"]);
});

test("a server that is silent is given up when its time is over", async () => {
  const clock = manualClock();
  const failed = expect(read(sourceOf("silent"), readerOf({ clock }))).rejects.toThrow(
    "The server did not answer completely within 120 s; try again.",
  );
  await until(() => clock.pending > 0);
  clock.pass(120_000);
  await failed;
});

async function until(isIt: () => boolean): Promise<void> {
  while (!isIt()) await new Promise((resolve) => setImmediate(resolve));
}

/** A file that a server writes. */
function fileIn(): string {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-mcp-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));
  return path.join(directory, "file");
}

test("a server gets no variables of the environment that may be secrets", async () => {
  const file = fileIn();
  await read(sourceOf("environment", file));
  const names = readFileSync(file, "utf8").split(" ");
  expect(names).toContain("PATH");
  expect(names.filter((name) => !/^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TERM|TMPDIR|TEMP|TMP|NODE_EXTRA_CA_CERTS|_|PWD|SHLVL)$/.test(name))).toEqual([]); // prettier-ignore
});

test.skipIf(process.platform === "win32")(
  "closing ends what a server started, and a server that does not want to end",
  async () => {
    const file = fileIn();
    const reader = readerOf();
    await read(sourceOf("child", file), reader);
    const child = Number(readFileSync(file, "utf8"));
    expect(pidExists(child)).toBe(true);
    await reader.close();
    await until(() => !pidExists(child));

    const clock = manualClock();
    const deaf = new ProgramTransport([process.execPath, hostile, "deaf"], clock);
    await deaf.start();
    let hasEnded = false;
    const closed = deaf.close().then(() => (hasEnded = true));
    await until(() => {
      clock.pass(2_000);
      return hasEnded;
    });
    await closed;
  },
);

test.each<[string, Answer, string]>([
  ["with 401", answers.status(401), "answered with status 401 for its skills, which needs credentials"],
  ["with 500", answers.status(500), "answered with status 500 for its skills"],
  [
    "with a page",
    answers.bytes("<html>", { "content-type": "text/html" }),
    "The server does not speak MCP as it should",
  ],
  ["endlessly", answers.endlessly(200), "sent more than 33554432 bytes, the limit for this answer"],
  ["with too many values", answers.bytes(`[${"0,".repeat(200_001)}0]`, { "content-type": "application/json" }), "sent more than 200000 keys and values"], // prettier-ignore
  ["with a redirect inside", answers.redirect("http://10.0.0.1/mcp"), "The server does not speak MCP as it should"],
  ["that there is nothing", answers.status(404), "The server does not speak MCP as it should"],
])("a server that answers %s is refused with a sentence", async (_what, answer, why) => {
  const server = await openHostileServer();
  const source = parseSource(`mcp:${server.on("/mcp", answer)}?key=hunter2`);
  const reader = readerOf({ typed: [source.url] });
  await expect(read(source, reader)).rejects.toThrow(why);
  await expect(read(source, reader)).rejects.not.toThrow("hunter2");
});

test("a server on this machine or in a private network is asked only if a person named or allowed it", async () => {
  const server = await openHostileServer();
  await expect(read(parseSource(`mcp:${server.origin}/mcp`))).rejects.toThrow("127.0.0.1");
  expect(server.asked).toEqual([]);
  await expect(read(parseSource("mcp:https://10.0.0.1/mcp"))).rejects.toThrow("allow it with --allow-private 10.0.0.1");
});
