import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let isSetUp = false;
const removed = { recursive: true, force: true, maxRetries: 10 } as const;

/**
 * Gives each test run a temporary directory and in it a data directory, which are removed afterwards. A run that leaves something else in it
 * fails: what tests leave, programs may leave, too.
 */
export default function setUp(): (() => void) | undefined {
  // Called for each project of a run.
  if (isSetUp) return undefined;
  isSetUp = true;
  const temporary = mkdtempSync(join(tmpdir(), "acp-"));
  // As the system's: processes of other users work in it.
  chmodSync(temporary, 0o1777);
  for (const name of ["TMPDIR", "TMP", "TEMP"]) process.env[name] = temporary;
  const directory = mkdtempSync(join(temporary, "data-"));
  process.env["ACP_SKILLS_HOME"] = directory;
  return () => {
    rmSync(directory, removed);
    const left = readdirSync(temporary).sort();
    rmSync(temporary, removed);
    if (left.length > 0) throw new Error(`Tests left in the temporary directory: ${left.join(", ")}`);
  };
}
