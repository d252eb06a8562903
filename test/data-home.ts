import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Gives the tests of one run a data directory of their own, which is gone afterwards. */
export default function setUp(): () => void {
  const directory = mkdtempSync(join(tmpdir(), "acp-skills-data-"));
  process.env["ACP_SKILLS_HOME"] = directory;
  return () => {
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  };
}
