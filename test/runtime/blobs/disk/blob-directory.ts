import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach } from "vitest";

/** Creates temporary directories for stores, removed after each test. */
export function blobDirectories(): () => string {
  const made: string[] = [];
  afterEach(() => {
    for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true });
  });
  return () => {
    const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-blobs-"));
    made.push(directory);
    return directory;
  };
}

/** Every file below a subdirectory of a store, without directories, as relative paths. */
export function filesIn(store: string, room: string): string[] {
  const root = path.join(store, "v1", room);
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => !lstatSync(path.join(root, name)).isDirectory())
    .sort();
}
