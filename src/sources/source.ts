import { SkillsError } from "../base/errors.ts";
import { attempt } from "../base/failures/system-error.ts";

/** Where skills of others come from, as a person names it. */
export interface Source {
  /** As people see it: without user information, query, fragment or the token of a share path. */
  readonly label: string;
  /** `auto`: what is there is found out by asking. */
  readonly kind: "auto" | "descriptor" | "registry" | "git" | "marketplace";
  /** Absolute, http or https; of git also ssh where a person says so. */
  readonly url: string;
  /** For a git source: a branch, a tag or a commit. Default: HEAD. */
  readonly ref?: string;
  /** For a git source: the directory to look in. */
  readonly path?: string;
}

/** Stands for the token of a share path, or for a query, where people see a URL. */
export const redactionMark = "…";

const maxLength = 2_048;
const owner = "[A-Za-z0-9](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){0,38}";
const repository = "(?!\\.{1,2}(?:$|[@#/]))[A-Za-z0-9._-]{1,100}";
const shorthand = new RegExp(`^(${owner})/(${repository})(?:[@#](.*))?$`);
const scp = /^([A-Za-z0-9][A-Za-z0-9._-]*)@([A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\]):(?!\/\/)([^#]+)(?:#(.*))?$/;
const bareHost = /^(?:[^/:?#@[\]]+\.[^/:?#@[\]]+|localhost|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?(?=[/?#]|$)/i;

/**
 * The source that a text names: a domain or URL, `registry:URL`, `git:URL`, `OWNER/REPO[@REF]` of GitHub, a page of a repository there, or
 * `git@host:path`; `#REF` is the ref of a git source. Throws INVALID_OPTIONS, which never repeats the text: it may hold a token.
 */
export function parseSource(text: string): Source {
  const given = text.trim();
  if (given === "" || given.length > maxLength) throw invalid(`it has ${given.length} characters`);
  if (/[\s\p{Cc}\p{Cf}]/u.test(given)) throw invalid("it contains blanks or invisible characters");
  if (isCut(given))
    throw invalid(`it has ${redactionMark} where its secret part was; write the whole URL that its publisher gave you`);
  const [, prefix, rest = ""] = /^(registry|git):(?!\/\/)(.*)$/is.exec(given) ?? [];
  if (prefix?.toLowerCase() === "registry") return toWebSource(toUrl(rest), "registry");
  if (prefix !== undefined) return toGitSource(rest);
  const short = shorthand.exec(given);
  if (short !== null && short[1]?.toLowerCase() !== "localhost") {
    const [, name = "", repo = "", ref] = short;
    return toRepository(new URL(`https://github.com/${name}/${withoutGit(repo)}.git`), ref);
  }
  if (scp.test(given)) return toGitSource(given);
  const url = toUrl(given);
  const page = toRepositoryPage(url);
  if (page !== undefined) return page;
  const isOfGit = url.protocol === "ssh:" || /\.git\/?$/i.test(url.pathname) || url.pathname.includes("/_git/");
  if (isOfGit) return toGitSource(given);
  const name = url.pathname.split("/").at(-1);
  if (name === "marketplace.json") return toWebSource(url, "marketplace");
  return toWebSource(url, name === "descriptor.json" ? "descriptor" : "auto");
}

/** Whether a label or the URL of a lock does not have the secret part. */
export function isCut(url: string): boolean {
  return url.includes(redactionMark) || url.toLowerCase().includes(encodeURIComponent(redactionMark).toLowerCase());
}

/** A URL as people may see it, and logs: without user information, query and fragment, and without the token of a share path (`/s/TOKEN/`). */
export function toLabel(url: string | URL): string {
  const { protocol, host, pathname } = new URL(url);
  const shown = pathname.split("/");
  for (let at = 1; at < shown.length; at++) {
    if (decoded(shown[at - 1] ?? "") === "s" && shown[at] !== "") shown[at] = redactionMark;
  }
  return `${protocol}//${host}${shown.join("/")}`;
}

/** What is not an encoding is what it says. */
function decoded(segment: string): string {
  return attempt(() => decodeURIComponent(segment), segment);
}

function toWebSource(url: URL, kind: Source["kind"]): Source {
  if (url.hash !== "") throw invalid("only git sources have a #REF", "git:https://example.com/skills.git#main");
  if (!/^https?:$/.test(url.protocol)) throw invalid(`a ${kind} source is an http or https URL`);
  return { label: toLabel(url), kind, url: url.href };
}

function toGitSource(text: string): Source {
  const [, user = "", host = "", place = "", given] = scp.exec(text) ?? [];
  if (host !== "") {
    return toRepository(toUrl(`ssh://${user}@${host}/${place.replace(/^\/+/, "")}`), given);
  }
  const url = toUrl(text);
  const page = toRepositoryPage(url);
  if (page !== undefined) return page;
  const ref = url.hash === "" ? undefined : decoded(url.hash.slice(1));
  url.hash = "";
  if (url.pathname === "/") throw invalid("the path of the repository is missing");
  return toRepository(url, ref);
}

/** A page of a repository on GitHub or GitLab, or a directory in it. */
function toRepositoryPage(url: URL): Source | undefined {
  if (!/^https?:$/.test(url.protocol)) return undefined;
  const host = url.hostname.replace(/^www\./, "");
  const parts = url.pathname.split("/").filter((part) => part !== "").map(decoded); // prettier-ignore
  const ofGitLab = parts.indexOf("-");
  const isGitHub = host === "github.com";
  if (!isGitHub && host !== "gitlab.com" && parts[ofGitLab + 1] !== "tree") return undefined;
  const length = isGitHub ? 2 : ofGitLab === -1 ? parts.length : ofGitLab;
  const place = parts.slice(0, length);
  const [view, ref, ...path] = parts.slice(isGitHub ? length : length + 1);
  if (place.length < 2 || place.some((part) => !/^[A-Za-z0-9._-]+$/.test(part)))
    throw invalid("the page of a repository names its owner and the repository", "https://github.com/OWNER/REPO");
  // Such as a release: a file of its own.
  if (view !== undefined && (ref === undefined || (view !== "tree" && view !== "blob"))) return undefined;
  if (view === "blob" && path.at(-1) === "SKILL.md") path.pop();
  else if (view === "blob") return undefined;
  const after = url.hash === "" ? undefined : decoded(url.hash.slice(1));
  if (ref !== undefined && after !== undefined) throw invalid("it names a ref twice, in its path and after #");
  const root = new URL(`${url.protocol}//${url.host.replace(/^www\./, "")}/`);
  root.pathname = `/${[...place.slice(0, -1), withoutGit(place.at(-1) ?? "")].join("/")}.git`;
  return toRepository(root, ref ?? after, path.join("/"));
}

function toRepository(url: URL, ref: string | undefined, path = ""): Source {
  if (!/^(?:https?|ssh):$/.test(url.protocol)) throw invalid("git repositories are read over https or ssh");
  if (ref !== undefined && !isRef(ref))
    throw invalid("what follows @ or # is not the name of a branch, a tag or a commit", "OWNER/REPO@main");
  if (path !== "" && !isDirectory(path)) throw invalid("the path in the repository is not the path of a directory");
  const label = `${toLabel(url)}${path === "" ? "" : ` (${path})`}${ref === undefined ? "" : `#${ref}`}`;
  return { label, kind: "git", url: url.href, ...(ref !== undefined && { ref }), ...(path !== "" && { path }) };
}

/** What git allows in the name of a ref, without what a shell or an option could mean. */
function isRef(text: string): boolean {
  const hasForm = /^[A-Za-z0-9_][A-Za-z0-9._/@+-]{0,255}$/.test(text);
  return hasForm && !/\.\.|\/\/|@\{|\/\.|[./]$|\.lock(?:\/|$)/.test(text);
}

function isDirectory(path: string): boolean {
  const segments = path.split("/");
  return path.length <= 512 && segments.every((part) => part !== "" && !/^\.{1,2}$|^\.git$|\\|[\p{Cc}]/iu.test(part));
}

function withoutGit(name: string): string {
  return name.replace(/\.git$/i, "");
}

/** The URL, https unless it says otherwise; http to this machine. */
function toUrl(text: string): URL {
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  if (!hasScheme && /^(?:\.{0,2}[/\\]|~|[a-z]:[\\/])/i.test(text)) throw invalid(ofThisMachine);
  if (!hasScheme && !bareHost.test(text) && !/^[^/]*@/.test(text))
    throw invalid("it has neither a dot nor a slash, nor a prefix");
  const whole = hasScheme ? text : `https://${text}`;
  if (!URL.canParse(whole)) throw invalid("the URL is not valid");
  const url = new URL(whole);
  if (!["http:", "https:", "ssh:"].includes(url.protocol)) {
    const scheme = url.protocol.slice(0, -1);
    if (scheme === "file") throw invalid(ofThisMachine);
    const why = scheme === "git" ? "git:// neither encrypts nor authenticates" : `${scheme} URLs are not read`;
    throw invalid(why);
  }
  if (url.password !== "" || (url.username !== "" && url.protocol !== "ssh:")) {
    throw invalid("user information in a URL would end up in files and logs; leave out what precedes the @");
  }
  if (url.hostname === "") throw invalid("the URL names no host");
  if (!hasScheme && isLoopbackHost(url.hostname)) url.protocol = "http:";
  return url;
}

const ofThisMachine =
  "it is on the disk of this machine; read its skills with --skills DIR, or copy them to .agents/skills";

function invalid(why: string, example = "example.com"): SkillsError {
  const forms = "a domain, a URL, OWNER/REPO of GitHub, git:URL or registry:URL";
  return new SkillsError("INVALID_OPTIONS", `not a source: ${why}; expected ${forms}, for example ${example}`);
}

/** Limits on one skill from elsewhere. */
export const skillLimits = {
  files: 1_000,
  /** For all its files, unpacked. */
  bytes: 50 * 1024 * 1024,
  /** For an archive, packed. */
  packedBytes: 25 * 1024 * 1024,
  pathLength: 512,
} as const;

/** Whether the host of a URL (`URL.hostname`) is by its name this machine. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])\.?$/i.test(hostname);
}
