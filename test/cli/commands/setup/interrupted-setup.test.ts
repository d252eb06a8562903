import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { dieAtEachChange, isEachKilled } from "../../../base/processes/die-at-each-change.ts";
import { binary, runCli } from "../../run-cli.ts";

const program = fileURLToPath(new URL("dying-setup.js", import.meta.url));
const made: string[] = [];
afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true });
}, 120_000);

const original = '{\n  // Mine\n  "theme": "One Dark",\n  "agent_servers": { "mine": { "command": "agent" } }\n}\n';
const fileIn = (home: string): string => path.join(home, ".config", "zed", "settings.json");
const textIn = (home: string): string | undefined =>
  existsSync(fileIn(home)) ? readFileSync(fileIn(home), "utf8") : undefined;

/** A home where these calls of `setup` have ended, with settings or without. */
async function prepare(before: string | undefined, calls: readonly (readonly string[])[]): Promise<string> {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-interrupted-")));
  made.push(home);
  mkdirSync(path.dirname(fileIn(home)), { recursive: true });
  if (before !== undefined) writeFileSync(fileIn(home), before);
  for (const args of calls) expect((await runCli(["setup", "zed", ...args], { cwd: home })).code).toBe(0);
  return home;
}

/** Undoes what a killed call has left, and looks at what that says and leaves. */
async function undoAfter(home: string, before: string | undefined, moment: string): Promise<void> {
  const { stdout, stderr } = await runCli(["setup", "zed", "--undo"], { cwd: home });
  expect(stdout + stderr, moment).toMatch(/exactly as it was\n$|There is nothing to undo/);
  expect(textIn(home), moment).toBe(before);
  expect(readdirSync(path.dirname(fileIn(home))), moment).toEqual(before === undefined ? [] : ["settings.json"]);
  const records = path.join(home, ".local", "share", "acp-skills", "setup");
  expect(existsSync(records) ? readdirSync(records) : [], moment).toEqual([]);
}

const write = ["--write"];
const add = ["--write", "--name", "Another", "--", "another"];

test.each([
  { what: "the first change", before: original, calls: [], killed: write },
  { what: "a second change", before: original, calls: [write], killed: add },
  { what: "a file that is created", before: undefined, calls: [], killed: add },
  { what: "the way back", before: original, calls: [write, add], killed: ["--undo"] },
  { what: "the way back from a file that was created", before: undefined, calls: [add], killed: ["--undo"] },
])(
  "$what that is killed at any change of the file system can be undone, and --undo tells the truth",
  async ({ before, calls, killed }) => {
    const latest = await dieAtEachChange({
      program,
      args: ["zed", ...killed],
      prepare: async () => await prepare(before, calls),
      directoryOf: (directory) => directory,
      async check(directory, _, moment) {
        await undoAfter(directory, before, moment);
      },
    });
    // Newer versions of Node remove a directory in one step that can be seen.
    expect(latest).toBeGreaterThan(isEachKilled ? 1 : 0);
  },
  240_000,
);

test("a change that was killed is made by the next call, and all is undone at once", async () => {
  await dieAtEachChange({
    program,
    args: ["zed", ...write],
    prepare: async () => await prepare(original, []),
    directoryOf: (directory) => directory,
    async check(directory, _, moment) {
      expect((await runCli(["setup", "zed", ...write], { cwd: directory })).code, moment).toBe(0);
      expect(textIn(directory), moment).toContain(JSON.stringify(binary));
      await undoAfter(directory, original, moment);
    },
  });
}, 240_000);
