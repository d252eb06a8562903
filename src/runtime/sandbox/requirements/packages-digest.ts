import { createHash, hash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** Any other name could end a line of what is hashed. */
const isPlain = /^[\w.+!~-]+$/;

/**
 * Identifies installed packages: `sha256:…` of the RECORD of each one, in which its installer lists every file with its digest. Packages
 * that are installed again from other files have another one; whoever can write to the cache can forge it.
 */
export async function digestOfPackages(directory: string): Promise<string> {
  const digest = createHash("sha256");
  for (const name of (await readdir(directory)).filter((entry) => entry.endsWith(".dist-info")).sort()) {
    const record = await readFile(path.join(directory, name, "RECORD")).catch(() => "");
    digest.update(`${hash("sha256", record)}  ${isPlain.test(name) ? name : JSON.stringify(name)}\n`);
  }
  return `sha256:${digest.digest("hex")}`;
}
