import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const program = fileURLToPath(new URL("../../../../src/runtime/sandbox/processes/show_project.py", import.meta.url));
const user = "1879050000";
/** All mounts end with the mount namespace. */
const privately = ["--mount", "--propagation", "private", "sh", "-euc"];

describe.skipIf(process.getuid?.() !== 0)("a project mounted for another user", () => {
  let directory = "";
  beforeEach(({ skip }) => {
    directory = mkdtempSync(path.join(tmpdir(), "show-project-"));
    chmodSync(directory, 0o711);
    for (const name of ["project", "project/below", "place"]) mkdirSync(path.join(directory, name));
    const { status, stderr } = run("show /bin/true");
    skip(status !== 0, stderr);
  });
  afterEach(() => {
    for (const name of ["project/below", "project", "place", "."]) rmdirSync(path.resolve(directory, name));
  });

  /** Defines `show`, which runs a command with the project mounted at `place`. */
  const run = (script: string) => {
    const { status, stdout, stderr } = spawnSync(
      "unshare",
      [...privately, `show() { python3 -ISB ${program} ${user} "$PWD/project" "$PWD/place" "$@"; }\n${script}`],
      { cwd: directory, encoding: "utf8" },
    );
    return { status, stdout, stderr };
  };

  test("includes the file systems mounted inside it", () => {
    const ran = run(`
      mount -t tmpfs none project/below
      echo of root > project/below/text
      show /bin/sh -euc 'cat place/below/text; echo new > place/below/new'
      stat -c '%u %n' project/below/*
    `);
    expect(ran).toEqual({ status: 0, stdout: "of root\n0 project/below/new\n0 project/below/text\n", stderr: "" });
  });

  test("is refused if a file system inside it does not support ID mapping", () => {
    const { status, stderr } = run("mount -t proc none project/below\nshow /bin/true");
    expect([status, stderr]).toEqual([
      1,
      `${directory}/project belongs to root and cannot be mounted for another user (Invalid argument).\n`,
    ]);
  });
});
