import { SkillsError } from "../../base/errors.ts";
import { type CanonicalHost, canonicalHost } from "../../base/network/address.ts";
import { toLabel } from "../source.ts";

/** The URL of a repository, in a form that git cannot take for anything else. */
export interface GitUrl {
  readonly scheme: "https" | "http" | "ssh";
  /** The URL without user information, except the user name of ssh. */
  readonly url: string;
  readonly host: CanonicalHost;
  readonly port: number;
  /** The URL as users see it. */
  readonly label: string;
}

const ports = { https: 443, http: 80, ssh: 22 } as const;
const maxUrlLength = 2_048;

/**
 * Checks the URL of a repository. Allows https, ssh, and http, which the address check allows to this machine only. Refuses `file:`,
 * paths, `ext::` and other remote helpers, and anything that git or ssh would read as an option. Throws SOURCE_INVALID.
 */
export function parseGitUrl(text: string): GitUrl {
  if (text.length > maxUrlLength) throw invalid(`it has more than ${maxUrlLength} characters`);
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
  // Refuses paths that decode to an option or a home directory on the other machine.
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

/** The limits of one remote repository. */
export const gitLimits = {
  /** Milliseconds for fetching a commit. */
  fetchMs: 120_000,
  /** Milliseconds for reading a repository that was fetched. */
  readMs: 30_000,
  /** Milliseconds for the list of branches and tags, and for looking up the host. */
  refsMs: 20_000,
  /** The maximum size of the list of branches and tags. */
  refsBytes: 4 * 1024 * 1024,
  /** The maximum on disk during a fetch: the bytes that the host sends, compressed, and an index of them. */
  diskBytes: 256 * 1024 * 1024,
  /** The maximum size of an archive, packed; `unpackedBytes`: unpacked. */
  packedBytes: 100 * 1024 * 1024,
  unpackedBytes: 400 * 1024 * 1024,
  /** The maximum number of files at a commit. */
  files: 50_000,
  /** The maximum size of the list of a commit's files. */
  listBytes: 16 * 1024 * 1024,
  /** The maximum size of the contents that one read returns together. */
  readBytes: 64 * 1024 * 1024,
  /** The maximum number of repositories cached at a time. */
  cached: 8,
} as const;

export type GitLimits = Readonly<Record<keyof typeof gitLimits, number>>;
