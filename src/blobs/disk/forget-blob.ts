import { readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { objectPath, recordPath, referencePath } from "./disk-layout.ts";
import type { DiskLayout } from "./disk-layout.ts";

/** Removes a blob, and its content when no other blob has it. Under the lock. Stopped anywhere, the rest is for the sweep. */
export function forgetBlob(layout: DiskLayout, key: string, sha256: string): void {
  rmSync(recordPath(layout, key), { force: true });
  rmSync(referencePath(layout, sha256, key), { force: true });
  const content = objectPath(layout, sha256);
  const prefix = `${path.basename(content)}.`;
  if (!readdirSync(path.dirname(content)).some((name) => name.startsWith(prefix))) rmSync(content, { force: true });
}
