import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import { sourceKindOf, parseSource, type Source, isCut, redactionMark, toLabel } from "../source.ts";
import type { Lock, LockEntry, LockForm } from "../lock.ts";
import type { RemoteIndex, RemoteSkill, SkillFile } from "../reader.ts";
import { attempt } from "../../base/failures/system-error.ts";
import { makeOwnDirectories } from "../../base/paths/directories.ts";
import type { InstallScope } from "../install-scope.ts";
import { shellWord } from "../../base/text/quoted.ts";

/** Returns the lock's fields for the source of a skill. They never contain a secret: see `lockedUrl`. */
export function lockedSource(
  { source, form, commit }: Pick<RemoteIndex, "source" | "form" | "commit">,
  skill: RemoteSkill,
  files: readonly SkillFile[],
  lockForm: LockForm,
): Pick<LockEntry, "source" | "sourceType"> & Partial<LockEntry> {
  const { content } = skill;
  if (content.type === "pinned") {
    const sourceType = content.source.replace(/:.*$/s, "");
    const sourceUrl = /^https?:/.test(source.url) ? lockedUrl(source.url) : source.label;
    return { source: source.label, sourceType, sourceUrl, pin: content.pin };
  }
  const sourceUrl = lockedUrl(source.url);
  const { hostname, host } = new URL(source.url);
  const at = {
    ...(source.ref !== undefined && { ref: source.ref }),
    ...(content.type === "git" ? { commit: content.commit } : commit !== undefined && { commit }),
  };
  // A marketplace in a repository may list skills of other repositories: those are found only through the marketplace.
  if (source.kind === "git" && content.type === "git" && isSameRepository(content.repository, source.url)) {
    const skillPath = /^\.?$/.test(content.directory) ? "SKILL.md" : `${content.directory}/SKILL.md`;
    const github = /^https:\/\/github\.com\/([^/]+\/[^/]+?)(?:\.git)?\/?$/.exec(source.url)?.[1];
    const url = github === undefined || lockForm === "global" ? { sourceUrl } : {};
    const sourceType = github !== undefined ? "github" : hostname === "gitlab.com" ? "gitlab" : "git";
    return { source: github ?? sourceUrl, sourceType, ...url, skillPath, ...at };
  }
  const address = host.replace(/^www\./, "").replace(/:\d+$/, "");
  const sourceType = typeOf({ source, form }, skill);
  if (sourceType !== "well-known") return { source: address, sourceUrl, sourceType, ...at };
  const wellKnownDigest = wellKnownDigestOf(skill, files);
  if (lockForm === "project") return { source: address, sourceUrl, sourceType, wellKnownDigest };
  const artifact = content.type === "archive" || content.type === "skill-md" ? lockedUrl(content.url) : sourceUrl;
  return { source: address, sourceUrl: artifact, sourceBaseUrl: sourceUrl, sourceType, wellKnownDigest };
}

/** Whether two URLs name one repository, with or without `.git` and slashes at the end. */
export function isSameRepository(one: string, other: string): boolean {
  const plain = (url: string): string => url.replace(/\/+$/, "").replace(/\.git$/, "");
  return plain(one) === plain(other);
}

/** Returns the source type: `well-known` for skills that the `skills` package finds itself, even if the host also uses Skill Sharing. */
function typeOf({ source: { kind }, form }: Pick<RemoteIndex, "source" | "form">, { content }: RemoteSkill): string {
  if (kind !== "auto") return kind === "git" ? "marketplace" : kind;
  const isDownloaded = content.type === "archive" || content.type === "skill-md" || content.type === "files";
  if (form.startsWith("agent-skills") || (form === "skill-sharing" && isDownloaded)) return "well-known";
  return form === "git" ? "marketplace" : form;
}

/** Returns the digest that the `skills` package computes: the one in an index of version 0.2, else a hash of the files. */
function wellKnownDigestOf({ content }: RemoteSkill, files: readonly SkillFile[]): string {
  if ((content.type === "archive" || content.type === "skill-md") && content.digest !== undefined)
    return content.digest;
  const hash = createHash("sha256");
  for (const { path, bytes } of [...files].sort((a, b) => (a.path < b.path ? -1 : 1)))
    hash.update(path).update("\0").update(bytes).update("\0");
  return `sha256:${hash.digest("hex")}`;
}

/**
 * Cuts the token of a share path (`/s/TOKEN/`) and the query from a URL, because locks are committed. The rest fails where it is used,
 * instead of reading public content of the same host.
 */
export function lockedUrl(url: string): string {
  const { protocol, search } = new URL(url);
  return protocol === "ssh:" ? url : `${toLabel(url)}${search === "" ? "" : `?${redactionMark}`}`;
}

/** Returns the source of an entry, or a sentence why it cannot be contacted. `isGivable`: `--source` can provide it, as one of `given`. */
export function sourceOfEntry(
  entry: LockEntry,
  given: readonly Source[] = [],
): Source | { readonly why: string; readonly isGivable?: true } {
  const isOfScheme = sourceKindOf(`${entry.sourceType}:`) !== undefined;
  const url = isOfScheme ? entry.source : (entry.sourceBaseUrl ?? entry.sourceUrl);
  if (url !== undefined && isCut(url)) {
    // A slash at the end of a directory makes no difference.
    const bare = (text: string): string => text.replace(/\/$/, "");
    const whole = given.find((source) => bare(addressOf(source)) === bare(url));
    if (whole !== undefined) return whole;
    return {
      why: `The secret part of its URL is not in the lock; give the whole URL of ${url} with --source.`,
      isGivable: true,
    };
  }
  if (isOfScheme) return parse(entry.source);
  const ref = entry.ref === undefined ? "" : `#${entry.ref}`;
  const { source, sourceType } = entry;
  switch (sourceType) {
    case "github":
      return parse(`git:${/^[^/:]+\/[^/:]+$/.test(source) ? `https://github.com/${source}.git` : source}${ref}`);
    case "gitlab":
    case "git":
      if (url === undefined && !source.includes(":")) return { why: "The lock does not say where its repository is." };
      return parse(`git:${url ?? source}${ref}`);
    case "well-known":
    case "skill-sharing":
    case "descriptor":
    case "registry":
    case "marketplace": {
      if (url === undefined) return { why: "The lock does not have its URL; add it again." };
      const isOfMarket = sourceType === "marketplace" && /\.git\/?$/.test(url);
      const found = parse(isOfMarket ? `${url}${ref}` : url);
      if ("why" in found || found.kind === "git") return found;
      return sourceType === "well-known" || sourceType === "skill-sharing" ? found : { ...found, kind: sourceType };
    }
    case "local":
      return { why: "It is from a directory of this machine; the skills package updates it." };
    case "node_modules":
      return { why: "It is from an npm package; it is updated with that." };
    default:
      return { why: `Sources of the type ${JSON.stringify(sourceType)} cannot be read.` };
  }
}

/** Returns the text by which a lock identifies a source: its label, or its URL without secrets. */
function addressOf({ kind, label, url }: Source): string {
  return kind === "scheme" ? label : lockedUrl(url);
}

function parse(text: string): Source | { readonly why: string } {
  try {
    return parseSource(text);
  } catch (error) {
    if (isSkillsError(error)) return { why: `Its source cannot be read: ${error.message}.` };
    throw error;
  }
}

/** Finds the skill of an entry among those that its source offers now. */
export function findLocked(key: string, entry: LockEntry, { skills }: RemoteIndex): RemoteSkill | undefined {
  const directory = entry.skillPath?.replace(/(?:^|\/)SKILL\.md$/i, "");
  const isThere = ({ content }: RemoteSkill): boolean =>
    content.type === "git" && content.directory.replace(/^\.$/, "") === directory;
  const name = entry.name ?? key;
  // The repository may have moved the skill.
  return (directory === undefined ? undefined : skills.find(isThere)) ?? skills.find((skill) => skill.name === name);
}

/** The sources of a lock for which the user vouches. */
export interface NamedSources {
  /** The whole URLs given with `--source`, for entries whose locked URLs are cut. */
  readonly given: readonly Source[];
  /** The given sources, and all those of the user's own lock (`--global`), which no project can write. Their loopback URLs are allowed. */
  readonly typed: readonly Source[];
}

/** Collects the sources that the user names. Throws INVALID_OPTIONS for a `--source` that no skill of the lock is from. */
export function namedSources({ form, entries }: Lock, texts: readonly string[] = []): NamedSources {
  const given = texts.map((text) => parseSource(text));
  const locked = [...entries.values()].flatMap((entry) => {
    const source = sourceOfEntry(entry, given);
    return "why" in source ? [] : [source];
  });
  const bare = (source: Source): string => addressOf(source).replace(/\/$/, "");
  const unknown = given.find((source) => !locked.some((one) => bare(one) === bare(source)));
  if (unknown !== undefined)
    throw new SkillsError("INVALID_OPTIONS", `--source ${unknown.label}: no skill of the lock is from there`);
  return { given, typed: form === "global" ? [...given, ...locked] : given };
}

/** Notes that the user named a source which is read with the user's keys. The note is in the data directory, where no project writes. */
export function confirmSource(where: InstallScope, source: Source): void {
  const file = confirmationOf(where, source);
  if (file === undefined) return;
  // If this fails, the user has to name the source again.
  attempt(() => {
    makeOwnDirectories(path.dirname(file), 0o700);
    writeFileSync(file, `${addressOf(source)}\n`, { mode: 0o600 });
  }, undefined);
}

/** Why a source of a lock is not contacted: only the user may cause its effects, and others may have written the lock. */
export function sourceRefusal(where: InstallScope, source: Source, { typed }: NamedSources): string | undefined {
  const file = confirmationOf(where, source);
  const address = addressOf(source);
  if (file === undefined || existsSync(file) || typed.some((one) => addressOf(one) === address)) return undefined;
  return `${address} ${source.forPersons ?? ""}, and a project's lock may be written by others; if you trust it, give it once: --source ${shellWord(address)}`;
}

/** Returns the file that confirms a source; undefined for a source that any lock may name. */
function confirmationOf({ records }: InstallScope, source: Source): string | undefined {
  if (source.forPersons === undefined) return undefined;
  const name = createHash("sha256").update(addressOf(source)).digest("hex");
  return path.join(path.dirname(records), "confirmed-sources", name);
}
