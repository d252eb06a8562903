import { sourceKindOf } from "./kinds.ts";
import type { Source } from "../source.ts";
import { decodedSegment, invalidSource, isCut, isLoopbackHost, redactionMark, toLabel } from "./source-label.ts";

const maxLength = 2_048;
const owner = "[A-Za-z0-9](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){0,38}";
const repository = "(?!\\.{1,2}(?:$|[@#/]))[A-Za-z0-9._-]{1,100}";
const shorthand = new RegExp(`^(${owner})/(${repository})(?:[@#](.*))?$`);
const scp = /^([A-Za-z0-9][A-Za-z0-9._-]*)@([A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\]):(?!\/\/)([^#]+)(?:#(.*))?$/;
const bareHost = /^(?:[^/:?#@[\]]+\.[^/:?#@[\]]+|localhost|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?(?=[/?#]|$)/i;

/**
 * Parses a source: a domain or URL, `registry:URL`, `git:URL`, `OWNER/REPO[@REF]` of GitHub, a page of a repository there, or
 * `git@host:path`; `#REF` is the ref of a git source. Throws INVALID_OPTIONS, which never repeats the text: it may hold a token.
 */
export function parseSource(text: string): Source {
  const given = text.trim();
  if (given === "" || given.length > maxLength) throw invalidSource(`it has ${given.length} characters`);
  if (/[\p{Cc}\p{Cf}]/u.test(given)) throw invalidSource("it contains invisible characters");
  if (isCut(given))
    throw invalidSource(
      `it has ${redactionMark} where its secret part was; write the whole URL that its publisher gave you`,
    );
  const ofScheme = sourceKindOf(given)?.parse(given);
  if (ofScheme !== undefined) return ofScheme;
  if (/\s/.test(given)) throw invalidSource("it contains blanks");
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

function toWebSource(url: URL, kind: Source["kind"]): Source {
  if (url.hash !== "") throw invalidSource("only git sources have a #REF", "git:https://example.com/skills.git#main");
  if (!/^https?:$/.test(url.protocol)) throw invalidSource(`a ${kind} source is an http or https URL`);
  return { label: toLabel(url), kind, url: url.href };
}

function toGitSource(text: string): Source {
  const [, user = "", host = "", location = "", given] = scp.exec(text) ?? [];
  if (host !== "") {
    return toRepository(toUrl(`ssh://${user}@${host}/${location.replace(/^\/+/, "")}`), given);
  }
  const url = toUrl(text);
  const page = toRepositoryPage(url);
  if (page !== undefined) return page;
  const ref = url.hash === "" ? undefined : decodedSegment(url.hash.slice(1));
  url.hash = "";
  if (url.pathname === "/") throw invalidSource("the path of the repository is missing");
  return toRepository(url, ref);
}

/** Parses a page of a repository on GitHub or GitLab, or of a directory in it; undefined for other URLs. */
function toRepositoryPage(url: URL): Source | undefined {
  if (!/^https?:$/.test(url.protocol)) return undefined;
  const host = url.hostname.replace(/^www\./, "");
  const parts = url.pathname.split("/").filter((part) => part !== "").map(decodedSegment); // prettier-ignore
  const ofGitLab = parts.indexOf("-");
  const isGitHub = host === "github.com";
  if (!isGitHub && host !== "gitlab.com" && parts[ofGitLab + 1] !== "tree") return undefined;
  const length = isGitHub ? 2 : ofGitLab === -1 ? parts.length : ofGitLab;
  const location = parts.slice(0, length);
  const [view, ref, ...path] = parts.slice(isGitHub ? length : length + 1);
  if (location.length < 2 || location.some((part) => !/^[A-Za-z0-9._-]+$/.test(part)))
    throw invalidSource("the page of a repository names its owner and the repository", "https://github.com/OWNER/REPO");
  // Other pages, such as a release, are files of their own.
  if (view !== undefined && (ref === undefined || (view !== "tree" && view !== "blob"))) return undefined;
  if (view === "blob" && path.at(-1) === "SKILL.md") path.pop();
  else if (view === "blob") return undefined;
  const after = url.hash === "" ? undefined : decodedSegment(url.hash.slice(1));
  if (ref !== undefined && after !== undefined) throw invalidSource("it names a ref twice, in its path and after #");
  const root = new URL(`${url.protocol}//${url.host.replace(/^www\./, "")}/`);
  root.pathname = `/${[...location.slice(0, -1), withoutGit(location.at(-1) ?? "")].join("/")}.git`;
  return toRepository(root, ref ?? after, path.join("/"));
}

function toRepository(url: URL, ref: string | undefined, path = ""): Source {
  if (!/^(?:https?|ssh):$/.test(url.protocol)) throw invalidSource("git repositories are read over https or ssh");
  if (ref !== undefined && !isRef(ref))
    throw invalidSource("what follows @ or # is not the name of a branch, a tag or a commit", "OWNER/REPO@main");
  if (path !== "" && !isDirectory(path))
    throw invalidSource("the path in the repository is not the path of a directory");
  const label = `${toLabel(url)}${path === "" ? "" : ` (${path})`}${ref === undefined ? "" : `#${ref}`}`;
  const keys = url.protocol === "ssh:" && { forPersons: "is read with your ssh keys" };
  return {
    label,
    kind: "git",
    url: url.href,
    ...keys,
    ...(ref !== undefined && { ref }),
    ...(path !== "" && { path }),
  };
}

/** Whether git allows a text as the name of a ref, and neither a shell nor an option parser can take it for something else. */
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

/** Parses a URL. Without a scheme it is https, or http to this machine. */
function toUrl(text: string): URL {
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  if (!hasScheme && /^(?:\.{0,2}[/\\]|~|[a-z]:[\\/])/i.test(text)) throw invalidSource(ofThisMachine);
  if (!hasScheme && !bareHost.test(text) && !/^[^/]*@/.test(text))
    throw invalidSource("it has neither a dot nor a slash, nor a prefix");
  const whole = hasScheme ? text : `https://${text}`;
  if (!URL.canParse(whole)) throw invalidSource("the URL is not valid");
  const url = new URL(whole);
  if (!["http:", "https:", "ssh:"].includes(url.protocol)) {
    const scheme = url.protocol.slice(0, -1);
    if (scheme === "file") throw invalidSource(ofThisMachine);
    const why = scheme === "git" ? "git:// neither encrypts nor authenticates" : `${scheme} URLs are not read`;
    throw invalidSource(why);
  }
  if (url.password !== "" || (url.username !== "" && url.protocol !== "ssh:")) {
    throw invalidSource("user information in a URL would end up in files and logs; leave out what precedes the @");
  }
  if (url.hostname === "") throw invalidSource("the URL names no host");
  if (!hasScheme && isLoopbackHost(url.hostname)) url.protocol = "http:";
  return url;
}

const ofThisMachine =
  "it is on the disk of this machine; read its skills with --skills DIR, or copy them to .agents/skills";
