import { SkillsError } from "../../base/errors.ts";
import { type CanonicalHost, canonicalHost } from "../../base/network/address.ts";
import { toLabel } from "../source.ts";

/** The address of a repository, in a form in which git can take it for nothing else. */
export interface GitUrl {
  readonly scheme: "https" | "http" | "ssh";
  /** Without user information, except the user name of ssh. */
  readonly url: string;
  readonly host: CanonicalHost;
  readonly port: number;
  /** For people. */
  readonly label: string;
}

const ports = { https: 443, http: 80, ssh: 22 } as const;
const longest = 2_048;

/**
 * Checks the URL of a repository. Only https, http (the address check allows it to this machine only) and ssh: neither `file:`, paths,
 * `ext::` and other remote helpers, nor anything that git or ssh would read as an option. Throws SOURCE_INVALID.
 */
export function parseGitUrl(text: string): GitUrl {
  if (text.length > longest) throw invalid(`it has more than ${longest} characters`);
  if (/[\s\\]|[^\x20-\x7e]/.test(text)) throw invalid("it contains blanks, backslashes or characters outside of ASCII");
  if (/^(?:-|[^:/]*::)/.test(text)) throw invalid("git would read it as an option or a program");
  if (!URL.canParse(text)) throw invalid("it is not a URL");
  const { protocol, hostname, port, pathname, search, hash, username, password } = new URL(text);
  const scheme = protocol.slice(0, -1);
  if (scheme !== "https" && scheme !== "http" && scheme !== "ssh") throw invalid(`${scheme} is not allowed`);
  if (search !== "" || hash !== "") throw invalid("it has a query or a fragment");
  if (password !== "" || (username !== "" && scheme !== "ssh")) throw invalid("it has user information");
  if (username !== "" && !/^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/.test(username))
    throw invalid("its user name is unusual");
  const host = canonicalHost(hostname);
  if (host === undefined || host.text.startsWith("-")) throw invalid("its host is not valid");
  if (pathname === "/" || pathname === "") throw invalid("it has no path");
  // What decodes to an option or a home directory on the other machine.
  if (!/^\/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*$/.test(pathname) || /^\/(?:-|%2d)/i.test(pathname))
    throw invalid("its path contains unusual characters");
  if (scheme === "ssh" && pathname.includes("%")) throw invalid("its path contains encoded characters");
  const user = username === "" ? "" : `${username}@`;
  const portText = port === "" ? "" : `:${port}`;
  const url = `${scheme}://${user}${host.text}${portText}${pathname}`;
  return { scheme, url, host, port: port === "" ? ports[scheme] : Number(port), label: toLabel(url) };
}

function invalid(why: string): SkillsError {
  const facts = { hint: "Use https://host/path/of/repository.git." };
  return new SkillsError("SOURCE_INVALID", `Not the URL of a git repository: ${why}.`, { facts });
}

const commit = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Whether a text is a full commit id, of SHA-1 or SHA-256. */
export function isCommit(text: string): boolean {
  return commit.test(text);
}

/** Limits on one repository of others. */
export const gitLimits = {
  /** Milliseconds for fetching a commit. */
  fetchMs: 120_000,
  /** Milliseconds for reading a repository that was fetched. */
  readMs: 30_000,
  /** Milliseconds for the list of its branches and tags, and for looking up its host. */
  refsMs: 20_000,
  /** For the list of its branches and tags. */
  refsBytes: 4 * 1024 * 1024,
  /** On disk while it is fetched: what the host sends, compressed, and an index of it. */
  diskBytes: 256 * 1024 * 1024,
  /** For an archive, packed and unpacked. */
  packedBytes: 100 * 1024 * 1024,
  unpackedBytes: 400 * 1024 * 1024,
  /** Files at a commit. */
  files: 50_000,
  /** For the list of these files. */
  listBytes: 16 * 1024 * 1024,
  /** Contents that one read returns together. */
  readBytes: 64 * 1024 * 1024,
  /** Repositories cached at a time. */
  cached: 8,
} as const;

export type GitLimits = Readonly<Record<keyof typeof gitLimits, number>>;
