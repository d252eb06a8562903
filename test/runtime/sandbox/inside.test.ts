import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { findPython } from "../../../src/runtime/sandbox/find.ts";

const directory = fileURLToPath(new URL("inside/", import.meta.url));
const files = readdirSync(directory).filter((name) => /^test_\w+\.py$/.test(name));
// The tests run programs in forked processes.
const python = process.platform === "win32" ? { reason: "Windows cannot fork." } : await findPython();

test.concurrent.for(files)(
  "the Python code inside a sandbox passes %s",
  { timeout: 60_000 },
  async (file, { skip }) => {
    if ("reason" in python) return skip(python.reason);
    const module = file.replace(/\.py$/, "");
    const { stderr } = await promisify(execFile)(python.executable, ["-B", "-m", "unittest", module], {
      cwd: directory,
    });
    expect(stderr).toMatch(/\nRan [1-9]\d* tests? in .*\n\nOK/);
  },
);
