import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { missingOwnFiles, ownFiles } from "../../../../src/runtime/sandbox/directory/own-files.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

describe("a bundled package without its own data files", () => {
  let directory = "";
  beforeEach(() => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-bundled-")));
    for (const part of ["dist", "package.json"])
      cpSync(path.join(root, part), path.join(directory, part), { recursive: true });
    symlinkSync(path.join(root, "node_modules"), path.join(directory, "node_modules"));
    rmSync(path.join(directory, "dist/runtime/sandbox/inside"), { recursive: true });
    mkdirSync(path.join(directory, "skills/a/scripts"), { recursive: true });
    writeFileSync(path.join(directory, "skills/a/SKILL.md"), "---\nname: a\ndescription: Does a.\n---\n");
    writeFileSync(path.join(directory, "skills/a/scripts/a.py"), "print(1)\n");
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  test("says once per run which files are missing and where to copy them", async () => {
    const args = ["run", "a", "--script", "scripts/a.py", "--skills", "skills", "--no-default-roots"];
    const running = promisify(execFile)(process.execPath, [path.join(directory, "dist/cli/main.js"), ...args], {
      cwd: directory,
      env: { PATH: process.env.PATH, HOME: directory },
    });
    const { stderr } = (await running.catch((error: unknown) => error)) as { stderr: string };
    const inside = path.join(directory, "dist/runtime/sandbox/inside");
    expect(stderr).toMatch(/^acp-skills: .*Files of the package acp-skills are missing:\n/);
    expect(stderr).toContain(`  ${inside}.`);
    expect(stderr).toContain(`copy the contents of its dist/runtime/sandbox to ${path.dirname(inside)}.`);
    expect(stderr.match(/are missing/g)).toHaveLength(1);
  });

  test("missingOwnFiles returns undefined if all files exist", () => {
    expect(missingOwnFiles()).toBeUndefined();
    expect(missingOwnFiles([ownFiles.inside, path.join(directory, "absent.py")])).toContain("absent.py");
  });
});
