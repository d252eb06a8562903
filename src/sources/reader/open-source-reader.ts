import { SkillsError } from "../../base/errors.ts";
import {
  type SourceClient,
  type SourceResponse,
  createSourceClient,
  urlsOf,
  withoutPrivateLinks,
} from "./source-client.ts";
import { type FoundListing, type ListingResult, readDescriptors, readListing } from "./read-listing.ts";
import { type Fetcher, type FetcherOptions, openFetcher } from "../fetch.ts";
import { checkFiles, fetchSkillFiles } from "./fetch-skill-files.ts";
import { toSkillFiles } from "../invoke/to-skill-files.ts";
import { indexLimits } from "./indexes/collect-skills.ts";
import {
  sourceKindOf,
  parseSource,
  type Source,
  type SourceDriver,
  type SourceDriverOptions,
  toLabel,
} from "../source.ts";
import type { GitSource } from "./git/git-source.ts";
import { describeSkillText } from "../../skills/document.ts";
import { byCodePoint } from "../../base/text/code-points.ts";
import type { RemoteIndex, RemoteSkill, SeenBefore, SourceLister } from "../reader.ts";
import { cleanText } from "../../base/text/unsafe-characters.ts";
import { isSlug } from "../../skills/skill.ts";

/** The check of a policy on a URL: the reason why nothing may be read from it, or undefined. */
export type SourceDenial = (url: string) => { readonly why: string; readonly hint: string } | undefined;

/** Opens a reader of web documents, git and sources with a scheme. Connects to nothing before the first read. Throws INVALID_OPTIONS. */
export function openSourceReader(
  options: FetcherOptions & Pick<SourceDriverOptions, "project"> & { readonly denied?: SourceDenial | undefined },
): SourceLister {
  const fetcher = openFetcher(options);
  let opened: Promise<GitSource> | undefined;
  const drivers = new Map<string, Promise<SourceDriver>>();
  const driver = async (label: string): Promise<SourceDriver> => {
    const kind = sourceKindOf(label);
    if (kind === undefined) throw new TypeError(`no kind of source has the scheme of ${label}`);
    const known = drivers.get(kind.scheme) ?? kind.open({ ...options, fetcher });
    drivers.set(kind.scheme, known);
    return await known;
  };
  // Most sources need no git: it is loaded with the first one that does.
  const git = (): Promise<GitSource> =>
    (opened ??= import("./git/git-source.ts").then(({ openGitSource }) => openGitSource({ ...options, fetcher })));
  const readAny = async (source: Source, signal: AbortSignal, before: SeenBefore = {}): Promise<Read> =>
    source.kind === "scheme"
      ? await (await driver(source.label)).readIndex(source, { signal, ...before })
      : await readSource(source, { fetcher, git, signal, ...before });
  return {
    async list(source, signal) {
      refuseDenied([source.url], options.denied);
      const index = await readAny(source, signal);
      if (index === "unchanged") throw new TypeError("not asked whether it changed");
      return index;
    },
    readDescriptors: (skills, signal) => readDescriptors(skills, { fetcher, signal }),
    async read(source, before, signal) {
      refuseDenied([source.url], options.denied);
      const index = await readAny(source, signal, before);
      if (index === "unchanged") return undefined;
      const { skills, problems, isPartial } = await readDescriptors(index.skills, { fetcher, signal });
      return {
        ...index,
        skills,
        problems: [...index.problems, ...problems],
        ...((isPartial ?? index.isPartial) === true && { isPartial: true }),
      };
    },
    async skillFiles({ name, content }, signal) {
      refuseDenied(locationsOf(content), options.denied);
      if (content.type === "pinned") return checkFiles(await (await driver(content.source)).readFiles(content, signal));
      if (content.type !== "api") return await fetchSkillFiles(content, { fetcher, git, signal });
      // The skill is invoked, not downloaded: acp-skills writes its files.
      const files = toSkillFiles(content.descriptor, name);
      if ("why" in files) throw new SkillsError("SOURCE_INVALID", files.why);
      return files;
    },
    async close() {
      try {
        const open = await Promise.allSettled([...drivers.values(), ...(opened === undefined ? [] : [opened])]);
        await Promise.all(open.flatMap((one) => (one.status === "fulfilled" ? [one.value.close()] : [])));
      } finally {
        await fetcher.close();
      }
    },
  };
}

/** A new index, or "unchanged" if it would be the same as before. */
type Read = RemoteIndex | "unchanged";

/** Throws PERMISSION_DENIED if a policy denies one of the URLs. */
function refuseDenied(urls: readonly string[], denied: SourceDenial | undefined): void {
  for (const url of urls) {
    const refusal = denied?.(url);
    if (refusal === undefined) continue;
    // The URL may hold a token.
    const why = refusal.why.replaceAll(url, toLabel(url));
    throw new SkillsError("PERMISSION_DENIED", why, { facts: { hint: refusal.hint } });
  }
}

/** Returns all URLs that a skill's bytes or runs come from; a source may list skills of other hosts. */
function locationsOf(content: RemoteSkill["content"]): readonly string[] {
  if (content.type === "git") return [content.repository];
  if (content.type === "pinned") return [parseSource(content.source).url];
  return content.type === "api" ? [content.descriptor.endpoint.url] : urlsOf(content);
}

/** The means to read a source, and its state at the last read. */
export interface ReadSourceOptions extends SeenBefore {
  readonly fetcher: Fetcher;
  readonly signal: AbortSignal;
  /** Opens git, which most sources do not need. */
  readonly git: () => Promise<Pick<GitSource, "readIndex" | "readMarketplace">>;
}

/**
 * Reads the skills that a source lists. `descriptor` contents are left to `readDescriptors`. Throws ENDPOINT_UNREACHABLE if something may
 * be there that could not be read now; SOURCE_INVALID if there is nothing, naming every URL and its answer; VERSION_INCOMPATIBLE. Rejects
 * with the reason of the signal.
 */
export async function readSource(source: Source, reading: ReadSourceOptions): Promise<Read> {
  const { fetcher, signal, git, ...before } = reading;
  if (source.kind === "git") return await (await git()).readIndex(source, { signal, ...before });
  const client = createSourceClient({ fetcher, signal });
  if (await client.areUnchanged(before.etags ?? {})) return "unchanged";
  return await readWeb(source, client, reading);
}

async function readWeb(source: Source, client: SourceClient, reading: ReadSourceOptions): Promise<RemoteIndex> {
  const url = new URL(source.url);
  const archive = source.kind === "auto" ? archiveName(url) : undefined;
  if (archive !== undefined) return toArchiveIndex(source, archive);
  const tried: ListingResult[] = [];
  for (const addresses of addressesOf(source, url)) {
    const found = await Promise.all(addresses.map((address) => readAddress(address, client)));
    tried.push(...found);
    const listings = found.filter((one) => "skills" in one);
    if (listings.length > 0) return toIndex(source, listings, tried, reading);
    const marketplace = found.find((one) => one.form === "marketplace");
    if (marketplace !== undefined) {
      const git = await reading.git();
      return await git.readMarketplace(source, marketplace.json, marketplace.url, reading.signal);
    }
    if (found.every((one) => one.form === "nothing" && one.why !== undefined)) break;
  }
  throw nothingAt(source, tried);
}

/** Yields the URLs to request, step by step; those of one step are requested at the same time. */
function* addressesOf({ kind }: Source, url: URL): Generator<readonly string[], void> {
  const directory = pathWithoutTrailingSlash(url);
  if (kind !== "auto") {
    yield [kind === "registry" ? registryAddress(url) : url.href];
    return;
  }
  if (isDocument(url)) yield [url.href];
  // The URL itself comes before the root of its host, so that a page that lists skills is not missed.
  yield [...wellKnownAddresses(url, directory), ...(directory === "" || isDocument(url) ? [] : [url.href])];
  if (directory === "") {
    yield [url.href];
    yield ["/.claude-plugin/marketplace.json", "/marketplace.json"].map((path) => new URL(path, url).href);
  } else if (!isShare(url)) {
    yield wellKnownAddresses(url, "");
  }
}

/** Returns `{registry}/skills`; the user may give this URL or that of the registry. */
function registryAddress(url: URL): string {
  const address = new URL(url);
  if (!/\/skills\/?$/.test(address.pathname)) address.pathname = `${pathWithoutTrailingSlash(url)}/skills`;
  return address.href;
}

async function readAddress(address: string, client: SourceClient): Promise<ListingResult> {
  const found = await readListing(address, client);
  if (found.form !== "nothing") return found;
  const answer = await client.ask(address);
  return (answer.type === "text" ? readSkillMdListing(answer, address) : undefined) ?? found;
}

function toArchiveIndex(source: Source, name: string): RemoteIndex {
  if (!isSlug(name)) {
    const why = "the name of the archive does not name a skill; expected lower-case letters, digits and hyphens";
    throw new SkillsError("SOURCE_INVALID", `${source.label}: ${why}`);
  }
  const content = { type: "archive", url: source.url } as const;
  return { source, form: "agent-skills-0.2", skills: [{ name, description: "", content }], problems: [] };
}

function toIndex(
  source: Source,
  listings: readonly FoundListing[],
  tried: readonly ListingResult[],
  { fetcher }: Pick<ReadSourceOptions, "fetcher">,
): RemoteIndex {
  const [first] = listings;
  if (first === undefined) throw new TypeError("no listing");
  const isSharing = ({ form }: FoundListing): boolean => !form.startsWith("agent-skills");
  const faults = tried.filter((one) => one.form === "nothing").filter(({ hasFailed }) => hasFailed);
  const skills = mergeListings(
    listings.filter(isSharing).flatMap((listing) => listing.skills),
    listings.filter((listing) => !isSharing(listing)).flatMap((listing) => listing.skills),
  ).map((skill) => withoutPrivateLinks(skill, source.url, fetcher));
  const isPartial = faults.length > 0 || listings.some((listing) => listing.isPartial);
  return {
    source,
    form: (listings.find(isSharing) ?? first).form,
    skills,
    problems: [...faults.map(({ said }) => said), ...listings.flatMap(({ problems }) => problems)],
    ...(isPartial && { isPartial }),
    etags: Object.assign({}, ...listings.map(({ etags }) => etags)) as Readonly<Record<string, string>>,
  };
}

function nothingAt({ label }: Source, tried: readonly ListingResult[]): SkillsError {
  const nothing = tried.filter((one) => one.form === "nothing");
  const fault = nothing.find((one) => one.fault !== undefined)?.fault;
  if (fault !== undefined) return fault;
  const code = nothing.some(({ hasFailed }) => hasFailed) ? "ENDPOINT_UNREACHABLE" : "SOURCE_INVALID";
  // An unreachable host has one reason for all its URLs.
  const [why, ...others] = new Set(nothing.map((one) => one.why));
  if (why !== undefined && others.length === 0) return new SkillsError(code, `${label} cannot be read: ${why}`);
  return new SkillsError(code, `${label} lists no skills: ${nothing.map(({ said }) => said).join("; ")}`);
}

/**
 * Merges the forms in which a source publishes into one list, sorted by name. Skill Sharing describes a skill that is in both; its files
 * come from Agent Skills, which has their digests, unless it is invoked.
 */
function mergeListings(sharing: readonly RemoteSkill[], agentSkills: readonly RemoteSkill[]): readonly RemoteSkill[] {
  const merged = new Map<string, RemoteSkill>();
  for (const skill of agentSkills) if (!merged.has(skill.name)) merged.set(skill.name, skill);
  for (const skill of sharing) {
    const files = merged.get(skill.name)?.content;
    const isDownloaded = files !== undefined && files.type !== "unusable" && skill.capabilityType !== "api";
    merged.set(skill.name, isDownloaded ? { ...skill, content: files } : skill);
  }
  return [...merged.values()].sort((one, other) => byCodePoint(one.name, other.name));
}

/** Reads a SKILL.md as a list of one skill; undefined if the text is no SKILL.md. */
function readSkillMdListing(
  { text, url, etag }: Extract<SourceResponse, { type: "text" }>,
  address: string,
): FoundListing | undefined {
  if (!/^\uFEFF?---[ \t]*\r?\n/.test(text)) return undefined;
  const { name: own = "", description = "" } = describeSkillText(text);
  const parts = new URL(address).pathname.split("/").filter((part) => part !== "");
  const name = [own, parts.at(-2) ?? ""].find(isSlug);
  if (name === undefined) return undefined;
  const skill = {
    name,
    description: cleanText(description, indexLimits.descriptionLength),
    content: { type: "skill-md", url } as const,
  };
  const etags = etag === undefined ? {} : { [address]: etag };
  return { form: "agent-skills-0.2", skills: [skill], problems: [], isPartial: false, etags };
}

/** Returns the URLs at which a domain, or a path of it, publishes its skills; the later ones are older forms. */
function wellKnownAddresses(base: URL, directory: string): readonly string[] {
  return ["skill-sharing", "agent-skills/index.json", "skills/index.json"].map(
    (name) => new URL(`${directory}/.well-known/${name}`, base).href,
  );
}

/** Returns the path of a URL without a slash at its end: empty for a bare domain. */
function pathWithoutTrailingSlash({ pathname }: URL): string {
  return pathname.replace(/\/+$/, "");
}

/** Whether a path ends like that of a document, which is requested first. */
function isDocument({ pathname }: URL): boolean {
  return /\.(?:json|md)$/i.test(pathname);
}

/** Returns the skill's name in an archive's path: `rows-clean` of `/x/rows-clean-1.2.0.tar.gz`; undefined for other paths. */
function archiveName({ pathname }: URL): string | undefined {
  const [, name] = /\/([^/]+)\.(?:tar\.gz|tgz|zip|tar)$/i.exec(pathname) ?? [];
  return name?.replace(/[-_.]v?\d+(?:\.\d+)+.*$/, "");
}

/** Whether a path starts with the token of a share: the root has other skills, and never replaces the share. */
function isShare({ pathname }: URL): boolean {
  return /^\/s\/[^/]/.test(pathname);
}
