import { execFileSync } from "node:child_process";
import { chownSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { createFileLog } from "../../../src/cli/arguments/session-options.ts";
import { createStderrLog } from "../../../src/cli/report/terminal.ts";
import { silentLog } from "../../../src/base/log.ts";
import { useTemporaryProject } from "../temporary-project.ts";

const project = useTemporaryProject();

test("writes warnings and errors to stderr, one line each, with control characters escaped", () => {
  const lines: string[] = [];
  const log = createStderrLog((line) => lines.push(line));
  log("info", "quiet");
  log("warning", "two\nlines \u001b[2J");
  log("error", "bad");
  expect(lines).toEqual(["acp-skills: two lines \\u{1b}[2J\n", "acp-skills: bad\n"]);
});

test("writes every level to the file, and errors to stderr as well", () => {
  const aside: string[] = [];
  const log = createFileLog(
    project.at("log"),
    (_level, message) => aside.push(message),
    () => new Date(0),
  );
  log("info", "one");
  log("error", "two");
  expect(readFileSync(project.at("log"), "utf8")).toBe(
    "1970-01-01T00:00:00.000Z info one\n1970-01-01T00:00:00.000Z error two\n",
  );
  expect(aside).toEqual(["two"]);
});

test.skipIf(process.platform !== "linux")(
  "reports a failed write once and continues on stderr without losing messages",
  () => {
    const aside: string[] = [];
    const log = createFileLog(
      "/dev/full",
      (_level, message) => aside.push(message),
      () => new Date(0),
    );
    log("warning", "one");
    log("warning", "two");
    expect(aside).toEqual([expect.stringContaining("cannot write to"), "one", "two"]);
  },
);

test("rejects a symbolic link, dangling or not, without touching its target", () => {
  const kept = project.write("bashrc", "mine\n");
  symlinkSync(kept, project.at("acp.log"));
  symlinkSync(project.at("new"), project.at("dangling.log"));
  for (const name of ["acp.log", "dangling.log"])
    expect(() => createFileLog(project.at(name), silentLog, () => new Date(0))).toThrow("contains a symbolic link");
  expect(readFileSync(kept, "utf8")).toBe("mine\n");
  expect(existsSync(project.at("new"))).toBe(false);
});

test.runIf(process.getuid?.() === 0)("rejects a file of another user", () => {
  chownSync(project.write("acp.log", ""), 65_534, 65_534);
  expect(() => createFileLog(project.at("acp.log"), silentLog, () => new Date(0))).toThrow(
    "it belongs to another user",
  );
});

test.skipIf(process.platform === "win32")("rejects a FIFO without a reader instead of blocking", () => {
  execFileSync("mkfifo", [project.at("log")]);
  const open = (): unknown =>
    createFileLog(
      project.at("log"),
      () => undefined,
      () => new Date(0),
    );
  expect(open).toThrow("ENXIO");
});
