import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import path from "node:path";
import { isObject, parseIfJson } from "../../base/json/json-value.ts";
import { LimitedMap } from "../../base/limited-map.ts";

/** The directory of an entry of a lock below the directory of skills, as the `skills` package names it: always one name. */
export function directoryName(key: string): string {
  const name = key
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, "-")
    .replace(/^[.-]+|[.-]+$/g, "")
    .slice(0, 255);
  return name === "" ? "unnamed-skill" : name;
}

/** Windows has none. */
const { O_NONBLOCK = 0 } = constants as Partial<typeof constants>;
const maxLockBytes = 16 * 1024 * 1024;

/** By lock file; URLs by the names of directories. */
const locks = new LimitedMap<string, { readonly stamp: string; readonly urls: ReadonlyMap<string, readonly string[]> }>(
  64,
);

/**
 * The URLs that locks name as those from which the skill in a directory was installed; none if no lock knows it. Locks are files of
 * projects: what they say may count against a skill, never for it. Never throws.
 */
export function installedFrom({ directory }: { readonly directory: string }, home: string): readonly string[] {
  const [parent, name] = [path.dirname(directory), path.basename(directory)];
  // `.agents/skills/NAME`, `.claude/skills/NAME` or `skills/NAME`.
  const above = path.dirname(parent);
  const { XDG_STATE_HOME: state = "" } = process.env;
  const files = new Set([
    ...[above, path.dirname(above)].map((base) => path.join(base, "skills-lock.json")),
    path.join(above, ".skill-lock.json"),
    ...(state === "" || !directory.startsWith(home) ? [] : [path.join(state, "skills", ".skill-lock.json")]),
  ]);
  return path.basename(parent) === "skills" ? [...files].flatMap((file) => urlsIn(file).get(name) ?? []) : [];
}

const nowhere: ReadonlyMap<string, readonly string[]> = new Map();

/** By one descriptor: runs may write to the project, and neither a pipe nor a device in the place of a lock may keep us. */
function urlsIn(file: string): ReadonlyMap<string, readonly string[]> {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, constants.O_RDONLY | O_NONBLOCK);
    const stats = fstatSync(descriptor);
    const stamp = [stats.size, stats.mtimeMs, stats.ctimeMs, stats.ino].join(":");
    const known = locks.get(file);
    if (known?.stamp === stamp) return known.urls;
    const isReadable = stats.isFile() && stats.size <= maxLockBytes;
    const value = isReadable ? parseIfJson(readText(descriptor, stats.size)) : undefined;
    const skills = isObject(value) && isObject(value["skills"]) ? Object.entries(value["skills"]) : [];
    const urls = new Map(skills.map(([key, entry]) => [directoryName(key), urlsOf(entry)]));
    locks.set(file, { stamp, urls });
    return urls;
  } catch {
    return nowhere;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function readText(descriptor: number, size: number): string {
  const bytes = Buffer.alloc(size);
  return bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, size, 0));
}

function urlsOf(entry: unknown): readonly string[] {
  if (!isObject(entry)) return [];
  const { source, sourceType, sourceUrl, sourceBaseUrl } = entry;
  const place = typeof source === "string" ? source : "";
  const isShorthand = !place.includes(":") && place !== "" && sourceType !== "local" && sourceType !== "node_modules";
  const whole = isShorthand ? `https://${sourceType === "github" ? "github.com/" : ""}${place}` : place;
  return [sourceBaseUrl, sourceUrl, whole].flatMap((url) =>
    typeof url === "string" && URL.canParse(url) ? [url] : [],
  );
}
