import { linkSync } from "node:fs";
import { chmod, copyFile, link, mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { HostDirectory } from "./host-directory.ts";
import { everyoneMayEnter } from "./sandbox-user.ts";

/**
 * Returns a path of installed packages that the sandbox's user can read. Started by root, it may have to be a copy, made once a
 * process, of hard links where possible.
 */
export function showPackages(host: HostDirectory): (packages: string) => Promise<string> {
  const shown = new Map<string, Promise<string>>();
  let made = 0;

  async function show(packages: string): Promise<string> {
    const target = join(host.path, `packages${++made}`);
    await linkTree(packages, target);
    return target;
  }

  return (packages) => {
    if (process.getuid?.() !== 0 || everyoneMayEnter(packages)) return Promise.resolve(packages);
    const showing = shown.get(packages) ?? show(packages);
    shown.set(packages, showing);
    showing.catch(() => shown.delete(packages)); // Retried by the next run.
    return showing;
  };
}

/** The same for Node itself; `undefined` if only root can read it and it is on another file system. */
export function showNode(host: HostDirectory): string | undefined {
  const node = process.execPath;
  if (process.getuid?.() !== 0 || everyoneMayEnter(node)) return node;
  const shown = join(host.path, "node");
  try {
    linkSync(node, shown);
    return shown;
  } catch {
    return undefined;
  }
}

/** The same for a file or directory, which is copied to `target` if need be. */
export async function showAt(target: string, path: string): Promise<string> {
  if (process.getuid?.() !== 0 || everyoneMayEnter(path)) return path;
  if ((await stat(path)).isDirectory()) await linkTree(path, target);
  else await linkFile(path, target);
  return target;
}

/** An installed tree has only directories and files, which every user may read. */
async function linkTree(source: string, target: string): Promise<void> {
  await mkdir(target);
  await chmod(target, 0o755);
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) await linkTree(from, to);
    else await linkFile(from, to);
  }
}

async function linkFile(from: string, to: string): Promise<void> {
  await link(from, to).catch(() => copyFile(from, to));
}
