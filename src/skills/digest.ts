import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { byCodePoint } from "./code-point-order.ts";

const skipped: ReadonlySet<string> = new Set([".git", "node_modules"]);

/**
 * What identifies the content of a skill: SHA-256, in hexadecimal, over its regular files in order of code points, each as
 * path (with `/`), NUL, and the SHA-256 of its bytes. Skills within it, `.git`, `node_modules` and links do not count.
 * Throws what the file system throws.
 */
export async function digestSkill(directory: string, { signal }: { signal?: AbortSignal } = {}): Promise<string> {
  const files = (await regularFiles(directory, "")).sort(byCodePoint);
  const digest = createHash("sha256");
  for (const file of files) {
    const content = createHash("sha256");
    await pipeline(createReadStream(path.join(directory, file)), content, { ...(signal && { signal }) });
    digest.update(file).update("\0").update(content.digest());
  }
  return digest.digest("hex");
}

async function regularFiles(directory: string, prefix: string): Promise<string[]> {
  const entries = await readdir(path.join(directory, prefix), { withFileTypes: true });
  const isSkill = entries.some(({ name }) => name === "SKILL.md" || name === "skill.md");
  if (prefix !== "" && isSkill) return [];
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => prefix + name);
  for (const entry of entries) {
    if (!entry.isDirectory() || skipped.has(entry.name)) continue;
    files.push(...(await regularFiles(directory, `${prefix}${entry.name}/`)));
  }
  return files;
}
