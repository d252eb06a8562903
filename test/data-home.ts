import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Gives each test run a separate data directory, which is removed afterwards. */
export default function setUp(): () => void {
  const directory = mkdtempSync(join(tmpdir(), "acp-skills-data-"));
  process.env["ACP_SKILLS_HOME"] = directory;
  return () => {
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  };
}
