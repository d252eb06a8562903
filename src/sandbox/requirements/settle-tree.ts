import { chmod, lstat, readdir, rm } from "node:fs/promises";
import path from "node:path";

/**
 * Makes an installed tree readable for the user of the sandbox, regardless of the umask. Removes everything that is neither a directory nor
 * a regular file, and permissions other than reading and executing.
 */
export async function settleTree(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const name of await readdir(directory)) {
    const entry = path.join(directory, name);
    const stats = await lstat(entry);
    if (stats.isDirectory()) await settleTree(entry);
    else if (stats.isFile()) await chmod(entry, (stats.mode & 0o100) === 0 ? 0o644 : 0o755);
    else await rm(entry);
  }
}
