import path from "node:path";
import { isIPv4 } from "node:net";
import type { Info, LicenseInfo } from "spdx-expression-parse";
import { attempt } from "../../../base/failures/system-error.ts";
import type { JudgedSkill } from "../grants.ts";
import type { ListName } from "./policy-file.ts";
import { canonicalHost } from "../../../base/network/address.ts";
import { matchesGlob } from "../../../base/text/name-glob.ts";
import { LimitedMap } from "../../../base/limited-map.ts";
import { installedFrom } from "../../../skills/files.ts";
import { isWithin } from "../../../base/paths/location.ts";
import { parseLicense } from "../../../skills/licenses.ts";

/** The hosts of one entry, of a policy or of a skill's request. An undefined field means any. */
interface Hosts {
  readonly scheme: string | undefined;
  readonly port: string | undefined;
  /** The host name; "" is any host. */
  readonly name: string;
  /** Whether only the subdomains of `name` are meant. */
  readonly subdomains: boolean;
}

const form = /^(?:(https?):\/\/)?(\*\.)?(\[[0-9a-f:.]+\]|[^:/?#[\]@\s]*)(?::([1-9]\d{0,4}))?$/i;
const defaultPorts: Readonly<Record<string, string>> = { http: "80", https: "443" };

/** Whether a policy's entry for hosts is valid. */
export function isHostRule(entry: string): boolean {
  return parseHosts(entry) !== undefined;
}

/** Whether a policy's entry contains all hosts of another entry, or of a skill's request. Names are compared, not addresses. */
export function hostsContain(rule: string, asked: string): boolean {
  const [all, some] = [parseHosts(rule), parseHosts(asked)];
  if (all === undefined || some === undefined) return false;
  if (all.scheme !== undefined && all.scheme !== some.scheme) return false;
  if (all.port !== undefined && all.port !== some.port) return false;
  if (all.name === "") return true;
  if (!all.subdomains) return !some.subdomains && all.name === some.name;
  return some.name.endsWith(`.${all.name}`) || (some.subdomains && some.name === all.name);
}

/** Whether a policy's entry shares any host with a skill's request. True if one of them is invalid, so that it is denied. */
export function hostsOverlap(rule: string, asked: string): boolean {
  const [a, b] = [parseHosts(rule), parseHosts(asked)];
  if (a === undefined || b === undefined) return true;
  if (a.scheme !== undefined && b.scheme !== undefined && a.scheme !== b.scheme) return false;
  if (a.port !== undefined && b.port !== undefined && a.port !== b.port) return false;
  if (a.name === "" || b.name === "") return true;
  if (!a.subdomains && !b.subdomains) return a.name === b.name;
  const isBelow = (name: string, { name: above, subdomains }: Hosts): boolean =>
    subdomains && name.endsWith(`.${above}`);
  return isBelow(a.name, b) || isBelow(b.name, a) || (a.subdomains && b.subdomains && a.name === b.name);
}

function parseHosts(entry: string): Hosts | undefined {
  if (entry === "*") return { scheme: undefined, port: undefined, name: "", subdomains: false };
  const [, scheme, wildcard, host = "", port] = form.exec(entry) ?? [];
  // The sandbox's proxy compares hosts in this form, too.
  const name = canonicalHost(host.toLowerCase())?.text;
  const subdomains = wildcard !== undefined;
  if (name === undefined || (subdomains && (isIPv4(name) || name.startsWith("[")))) return undefined;
  const lowerScheme = scheme?.toLowerCase();
  return { scheme: lowerScheme, port: port ?? defaultPorts[lowerScheme ?? ""], name, subdomains };
}

/** The comparisons of a list's entries with names, or with each other. */
interface Matching {
  /** Whether an entry contains everything that another one does. */
  readonly contains: (entry: string, other: string, home: string) => boolean;
  /** Whether an entry shares anything with another one; true if in doubt. */
  readonly overlaps: (entry: string, other: string) => boolean;
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

export const matching: Readonly<Record<ListName, Matching>> = {
  skills: { contains: matchesGlob, overlaps: matchesGlob },
  sources: { contains: sourceContains, overlaps: isSame },
  licenses: { contains: isSame, overlaps: isSame },
  hosts: { contains: hostsContain, overlaps: hostsOverlap },
  secrets: { contains: secretsContain, overlaps: secretsOverlap },
};

/** Whether an entry contains another one, or a skill's request. A bare name also contains sending the secret to hosts. */
function secretsContain(rule: string, asked: string): boolean {
  const [[name = "", hosts], [other = "", some]] = [rule.split("@"), asked.split("@")];
  if (!matchesGlob(name, other)) return false;
  return hosts === undefined || (some !== undefined && hostsContain(hosts, withScheme(some)));
}

/** Whether an entry shares anything with a skill's request. Sending a secret also matches reading it: its reader can send it. */
function secretsOverlap(rule: string, asked: string): boolean {
  const [[name = "", hosts], [other = "", some]] = [rule.split("@"), asked.split("@")];
  if (!matchesGlob(name, other)) return false;
  return hosts === undefined || some === undefined || hostsOverlap(hosts, withScheme(some));
}

/** Adds `https://` to a secret's host that has neither a scheme nor a wildcard. */
function withScheme(host: string): string {
  return host.includes("://") || host.includes("*") ? host : `https://${host}`;
}

/** The fields of a skill that state its origin. */
type SkillOrigin = Pick<JudgedSkill, "source" | "directory" | "isOwn" | "origin">;

/** Stands for all skills that came with projects. */
const project = "project";
const url = /^https?:\/\/[^/\s]/i;

/** Whether an entry is a directory (absolute, or in the home directory), the start of a URL, or `project`. */
export function isSourceRule(entry: string): boolean {
  return entry === project || url.test(entry) || entry === "~" || entry.startsWith("~/") || path.isAbsolute(entry);
}

/** Whether a rule contains all skills from another source: the rule is that directory or URL, or one above it. */
export function sourceContains(rule: string, other: string, home: string): boolean {
  if (rule === other) return true;
  if (url.test(rule)) return isUnderUrl(other, rule);
  if (rule === project || other === project || url.test(other)) return false;
  return isWithin(toPath(other, home), toPath(rule, home));
}

export function allowsSource(rule: string, skill: SkillOrigin, home: string): boolean {
  if (rule === project) return !skill.isOwn && skill.origin === undefined;
  if (url.test(rule)) return skill.origin !== undefined && isUnderUrl(originUrl(skill.origin), rule);
  return skill.origin === undefined && isWithin(fold(skill.source), toPath(rule, home));
}

/** Whether a rule denies a skill. Unlike `allowsSource`, also by its real or stored directory, and the URL of its installation. */
export function deniesSource(rule: string, skill: SkillOrigin, home: string): boolean {
  if (url.test(rule)) {
    const urls = skill.origin === undefined ? installedFrom(skill, home) : [originUrl(skill.origin)];
    return urls.some((one) => deniesUrl(rule, one));
  }
  if (rule === project) return allowsSource(rule, skill, home);
  return [skill.source, skill.directory].some((located) => isWithin(fold(located), toPath(rule, home)));
}

function originUrl({ source, url = source }: NonNullable<SkillOrigin["origin"]>): string {
  return url;
}

function isUnderUrl(text: string, start: string): boolean {
  if (!URL.canParse(text) || !URL.canParse(start)) return false;
  const [{ origin, pathname }, above] = [new URL(text), new URL(start)];
  const prefix = above.pathname.replace(/\/+$/, "");
  const isBelow = pathname === prefix || pathname === `${prefix}.git` || pathname.startsWith(`${prefix}/`);
  return origin === above.origin && isBelow;
}

/** Whether a rule denies a URL, however it is spelt: with another scheme, a user, or other letter case. */
export function deniesUrl(rule: string, text: string): boolean {
  const [denied, location] = [addressOf(rule), addressOf(text)];
  if (denied === undefined || location === undefined) return false;
  const isHost = denied.host === location.host && (denied.port === "" || denied.port === location.port);
  const [path, prefix] = [location.path, denied.path.replace(/\.git$/, "")];
  return isHost && (path === prefix || path === `${prefix}.git` || path.startsWith(`${prefix}/`));
}

/** Whether a rule is a URL. If "allow" has one, no other sources on the network are allowed. */
export function isUrlRule(rule: string): boolean {
  return url.test(rule);
}

function addressOf(text: string): { readonly host: string; readonly port: string; readonly path: string } | undefined {
  if (!URL.canParse(text)) return undefined;
  const { hostname, port, pathname } = new URL(text);
  const path = attempt(() => decodeURIComponent(pathname), pathname)
    .toLowerCase()
    .replace(/\/{2,}/g, "/")
    .replace(/\/$/, "");
  return { host: hostname.toLowerCase().replace(/^www\.|\.$/g, ""), port, path };
}

const paths = new LimitedMap<string, string>(2_000);

/** The path of a directory entry. Cached, because the same entries are compared with thousands of skills. */
function toPath(entry: string, home: string): string {
  const key = `${home}\n${entry}`;
  const known = paths.get(key);
  if (known !== undefined) return known;
  const folded = fold(path.resolve(entry.startsWith("~") ? path.join(home, entry.slice(1)) : entry));
  paths.set(key, folded);
  return folded;
}

/** File systems of Windows do not distinguish case. */
function fold(file: string): string {
  return process.platform === "win32" ? file.toLowerCase() : file;
}

/**
 * The licenses that a policy allows and denies: SPDX identifiers, also with `WITH` an exception, and `LicenseRef-…`. `unknown` is a license
 * that is not recognized, `unspecified` a skill without one. `GPL-3.0` stands for -only and -or-later as well. A license in both lists is
 * denied. Without `allowed`, every license that is not denied is allowed.
 */
export interface LicenseLists {
  readonly allowed?: readonly string[] | undefined;
  readonly denied?: readonly string[] | undefined;
}

/**
 * Why the lists deny a license, as the end of a sentence that starts with "The policy"; undefined if they allow it. Takes an SPDX
 * expression, `unknown` or `unspecified`. Of `A OR B`, one must be allowed; of `A AND B`, both.
 */
export function judgeLicense(license: string, lists: LicenseLists): string | undefined {
  if (license === "unknown" || license === "unspecified") return judgeWord(license, lists);
  const tree = parseLicense(license);
  return tree === undefined ? judgeWord("unknown", lists) : judgeTree(tree, lists);
}

function judgeWord(word: "unknown" | "unspecified", { allowed, denied = [] }: LicenseLists): string | undefined {
  const what = word === "unknown" ? "licenses that are not recognized" : "skills without a license";
  if (denied.includes(word)) return `denies ${what}`;
  return allowed === undefined || allowed.includes(word) ? undefined : `does not allow ${what}`;
}

function judgeTree(tree: Info, lists: LicenseLists): string | undefined {
  if (!("conjunction" in tree)) return judgeTerm(tree, lists);
  const left = judgeTree(tree.left, lists);
  if (tree.conjunction === "or" && left === undefined) return undefined;
  if (tree.conjunction === "and" && left !== undefined) return left;
  const right = judgeTree(tree.right, lists);
  return tree.conjunction === "and" || right === undefined ? right : `${left} and ${right}`;
}

/** An exception only permits more: the license decides, unless a list names it with the exception. */
function judgeTerm(
  { license, plus, exception }: LicenseInfo,
  { allowed, denied = [] }: LicenseLists,
): string | undefined {
  const id = plus === true ? `${license}+` : license;
  const whole = exception === undefined ? id : `${id} WITH ${exception}`;
  const isExcepted = exception !== undefined && allowed !== undefined && has(allowed, whole);
  if (has(denied, whole) || (mayMean(denied, id) && !isExcepted)) return `denies the license ${whole}`;
  if (allowed === undefined || isExcepted || means(allowed, id)) return undefined;
  return `does not allow the license ${whole}`;
}

/** Whether a list has everything that an identifier may mean. */
function means(list: readonly string[], id: string): boolean {
  const forms = formsOf(id);
  const hasForms = forms.length > 0 && forms.every((form) => has(list, form));
  return has(list, id) || has(list, familyOf(id)) || hasForms;
}

/** Whether a list has anything that an identifier may mean. */
function mayMean(list: readonly string[], id: string): boolean {
  return has(list, id) || has(list, familyOf(id)) || formsOf(id).some((form) => has(list, form));
}

/** The two forms of a GNU license that does not say whether later versions may be chosen. */
function formsOf(id: string): readonly string[] {
  return /^[AL]?GPL-\d\.\d$/.test(id) ? [`${id}-only`, `${id}-or-later`] : [];
}

function has(list: readonly string[], id: string): boolean {
  return list.some((entry) => toKey(entry) === toKey(id));
}

/** `GPL-3.0+` is `GPL-3.0-or-later`. */
function toKey(id: string): string {
  return id.toLowerCase().replace(/^([al]?gpl-\d\.\d)\+/, "$1-or-later");
}

function familyOf(id: string): string {
  return id.replace(/(?:-only|-or-later|\+)$/, "");
}
