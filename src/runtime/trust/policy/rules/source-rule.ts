import path from "node:path";
import { LimitedMap } from "../../../../base/limited-map.ts";
import { installedFrom } from "../../../../skills/files.ts";
import { isWithin } from "../../../../base/paths/is-within.ts";

/** Where a skill came from. */
export interface SkillOrigin {
  /** The directory of skills under which it was found. */
  readonly source: string;
  /** The real path of its own directory. */
  readonly directory: string;
  readonly isOwn: boolean;
  /** Set for skills that others publish. */
  readonly origin?: { readonly source: string } | undefined;
}

/** Stands for all skills that came with projects. */
const project = "project";
const url = /^https?:\/\/[^/\s]/i;

/** A directory (absolute, or in the home directory), the start of a URL, or `project`. */
export function isSourceRule(entry: string): boolean {
  return entry === project || url.test(entry) || entry === "~" || entry.startsWith("~/") || path.isAbsolute(entry);
}

/** Whether everything from one source comes from another: the directory or one above it, the URL or the start of one. */
export function sourceContains(rule: string, other: string, home: string): boolean {
  if (rule === other) return true;
  if (url.test(rule)) return isUnderUrl(other, rule);
  if (rule === project || other === project || url.test(other)) return false;
  return isWithin(toPath(other, home), toPath(rule, home));
}

export function allowsSource(rule: string, skill: SkillOrigin, home: string): boolean {
  if (rule === project) return !skill.isOwn && skill.origin === undefined;
  if (url.test(rule)) return skill.origin !== undefined && isUnderUrl(skill.origin.source, rule);
  return skill.origin === undefined && isWithin(fold(skill.source), toPath(rule, home));
}

/** Besides, a directory is denied where it really is, and where a fetched skill is stored; and what was installed from a URL. */
export function deniesSource(rule: string, skill: SkillOrigin, home: string): boolean {
  if (url.test(rule)) {
    const urls = skill.origin === undefined ? installedFrom(skill, home) : [skill.origin.source];
    return urls.some((one) => deniesUrl(rule, one));
  }
  if (rule === project) return allowsSource(rule, skill, home);
  return [skill.source, skill.directory].some((place) => isWithin(fold(place), toPath(rule, home)));
}

function isUnderUrl(text: string, start: string): boolean {
  if (!URL.canParse(text) || !URL.canParse(start)) return false;
  const [{ origin, pathname }, above] = [new URL(text), new URL(start)];
  const prefix = above.pathname.replace(/\/+$/, "");
  const isBelow = pathname === prefix || pathname === `${prefix}.git` || pathname.startsWith(`${prefix}/`);
  return origin === above.origin && isBelow;
}

/** A URL is denied however it is spelt: by another scheme, with a user, in other letters. */
export function deniesUrl(rule: string, text: string): boolean {
  const [denied, place] = [placeOf(rule), placeOf(text)];
  if (denied === undefined || place === undefined) return false;
  const isHost = denied.host === place.host && (denied.port === "" || denied.port === place.port);
  const [path, prefix] = [place.path, denied.path.replace(/\.git$/, "")];
  return isHost && (path === prefix || path === `${prefix}.git` || path.startsWith(`${prefix}/`));
}

/** Whether sources on the network are allowed by URL: then others are not. */
export function isUrlRule(rule: string): boolean {
  return url.test(rule);
}

function placeOf(text: string): { readonly host: string; readonly port: string; readonly path: string } | undefined {
  if (!URL.canParse(text)) return undefined;
  const { hostname, port, pathname } = new URL(text);
  const path = decoded(pathname)
    .toLowerCase()
    .replace(/\/{2,}/g, "/")
    .replace(/\/$/, "");
  return { host: hostname.toLowerCase().replace(/^www\.|\.$/g, ""), port, path };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const paths = new LimitedMap<string, string>(2_000);

/** Cached, because the same entries are compared with thousands of skills. */
function toPath(entry: string, home: string): string {
  const key = `${home}\n${entry}`;
  const known = paths.get(key);
  if (known !== undefined) return known;
  const place = fold(path.resolve(entry.startsWith("~") ? path.join(home, entry.slice(1)) : entry));
  paths.set(key, place);
  return place;
}

/** File systems of Windows do not distinguish case. */
function fold(place: string): string {
  return process.platform === "win32" ? place.toLowerCase() : place;
}
