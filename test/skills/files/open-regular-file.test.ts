import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isSkillsError } from "../../../src/errors.ts";
import { openRegularFile, openRegularFileSync } from "../../../src/skills/files/open-regular-file.ts";

let directory = "";
beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-open-")));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

test("opens a regular file", async () => {
  const file = path.join(directory, "file");
  writeFileSync(file, "text");
  const handle = await openRegularFile(file);
  expect(await handle.readFile("utf8")).toBe("text");
  await handle.close();
  const descriptor = openRegularFileSync(file);
  closeSync(descriptor);
  expect(descriptor).toBeGreaterThan(2);
});

test.skipIf(process.platform === "win32")("rejects a directory and a FIFO without blocking", async () => {
  const inner = path.join(directory, "inner");
  const pipe = path.join(directory, "pipe");
  mkdirSync(inner);
  execFileSync("mkfifo", [pipe]);
  for (const target of [inner, pipe]) {
    await expect(openRegularFile(target)).rejects.toSatisfy(isSkillsError);
    expect(() => openRegularFileSync(target)).toThrow(`${target} cannot be read: it is not a regular file.`);
  }
});
