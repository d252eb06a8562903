import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

/** Creates an empty directory, removed after the test. */
export function temporaryDirectory(): string {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-secrets-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
