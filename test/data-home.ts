import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Set for the processes of a run, because each of its projects calls `setUp` again. */
const marker = "ACP_SKILLS_TEST_TEMPORARY";
/**
 * Directories for sockets of processes that tests kill: the next process that makes one removes those of processes that are gone. And a
 * browser's own lock, if it was killed.
 */
const swept = /^acp-skills-mcp-|^\.org\.chromium\./;
const removed = { recursive: true, force: true, maxRetries: 10 } as const;

/**
 * Gives each test run a temporary directory and in it a data directory, which are removed afterwards. A run that leaves something else in it
 * fails: what tests leave, programs may leave, too.
 */
export default function setUp(): (() => void) | undefined {
  if (process.env[marker] !== undefined) return undefined;
  const temporary = mkdtempSync(join(tmpdir(), "acp-"));
  process.env[marker] = temporary;
  // As the system's: processes of other users work in it.
  chmodSync(temporary, 0o1777);
  for (const name of ["TMPDIR", "TMP", "TEMP"]) process.env[name] = temporary;
  // Programs such as npm and tsc cache their compiled code in the temporary directory otherwise.
  process.env["NODE_DISABLE_COMPILE_CACHE"] = "1";
  const directory = mkdtempSync(join(temporary, "data-"));
  process.env["ACP_SKILLS_HOME"] = directory;
  return () => {
    rmSync(directory, removed);
    const left = readdirSync(temporary).filter((name) => !swept.test(name));
    rmSync(temporary, removed);
    if (left.length === 0) return;
    console.error(`Tests left in the temporary directory: ${left.join(", ")}`);
    // An error thrown here would be printed, and the run succeed.
    process.exitCode = 1;
  };
}
