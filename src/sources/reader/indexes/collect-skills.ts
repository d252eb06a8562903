import type { ZodError } from "zod";
import type { Steps } from "../../../base/promises.ts";
import type { RemoteSkill } from "../../reader.ts";
import { cleanText } from "../../../base/text/unsafe-characters.ts";
import { isLoopbackHost } from "../../source.ts";

/** The skills that a document lists. */
export interface Listed {
  /** The skills in the order of the document. */
  readonly skills: readonly RemoteSkill[];
  /** The problems, as sentences without a full stop. */
  readonly problems: readonly string[];
}

/** The reason why an entry is left out: a sentence without a full stop. */
export interface SkippedEntry {
  readonly why: string;
}

/** Reads each entry by itself, so that a bad one does not affect the others. If two have the same name or id, the first counts. */
export function* collectSkills(
  entries: readonly unknown[],
  toSkill: (entry: unknown) => RemoteSkill | SkippedEntry,
): Steps<Listed> {
  const skills = new Map<string, RemoteSkill>();
  const ids = new Set<string>();
  const problems = new LimitedProblems();
  for (const [index, entry] of entries.slice(0, indexLimits.entries).entries()) {
    yield;
    const found = toSkill(entry);
    const where = `entry ${index + 1}${nameOf(entry)}`;
    if ("why" in found) {
      problems.add(`${where}: ${found.why}`);
    } else if (skills.has(found.name)) {
      problems.add(`${where}: the name ${found.name} is listed twice; the first one is used`);
    } else if (found.id !== undefined && ids.has(found.id)) {
      problems.add(`${where}: the id ${found.id} is listed twice; the first one is used`);
    } else {
      skills.set(found.name, found);
      if (found.id !== undefined) ids.add(found.id);
    }
  }
  if (entries.length > indexLimits.entries)
    problems.add(`${entries.length} skills are listed; the first ${indexLimits.entries} are read`);
  return { skills: [...skills.values()], problems: problems.all() };
}

/** A list of at most `indexLimits.problems` problems; it only counts the rest. */
export class LimitedProblems {
  readonly #sentences: string[] = [];
  #more = 0;

  add(...sentences: readonly string[]): void {
    for (const sentence of sentences)
      if (this.#sentences.length < indexLimits.problems) this.#sentences.push(sentence);
      else this.#more++;
  }

  all(): readonly string[] {
    return this.#more === 0 ? this.#sentences : [...this.#sentences, `${this.#more} more problems`];
  }
}

function nameOf(entry: unknown): string {
  if (typeof entry !== "object" || entry === null) return "";
  const { id, name } = entry as { readonly id?: unknown; readonly name?: unknown };
  const named = [id, name].find((value) => typeof value === "string");
  return named === undefined ? "" : ` (${cleanText(named, indexLimits.nameLength)})`;
}

/** Describes the first fault that a schema found, with its path: `access: expected one of …`. */
export function sayFault({ issues: [issue] }: ZodError): string {
  const path = issue?.path.map(String).join(".") ?? "";
  const message = (issue?.message ?? "it is not valid").replace(/^Invalid (?:input|option): /, "");
  return cleanText(path === "" ? message : `${path}: ${message}`, 200);
}

/**
 * Resolves a link of a document against the URL that answered; `why` is a sentence about its fault. A document from the network can lead
 * neither from https to http nor to this machine.
 */
export function resolveDocumentLink(link: string, base: string): { readonly url: string } | { readonly why: string } {
  if (link.length > indexLimits.urlLength) return { why: `a URL is longer than ${indexLimits.urlLength} characters` };
  if (!URL.canParse(link, base)) return { why: "a URL is not valid" };
  const url = new URL(link, base);
  if (url.protocol !== "https:" && url.protocol !== "http:") return { why: `a URL is neither http nor https` };
  if (url.username !== "" || url.password !== "") return { why: "a URL has user information" };
  const from = new URL(base);
  if (url.protocol === "http:" && from.protocol === "https:") return { why: "a URL is http, in a document of https" };
  if (isLoopbackHost(url.hostname) && !isLoopbackHost(from.hostname)) return { why: "a URL leads to this machine" };
  url.hash = "";
  return { url: url.href };
}

/** The limits of the lists of a source. Longer texts are cut; above the other limits the rest is left out and reported. */
export const indexLimits = {
  /** The maximum size of one document. */
  bytes: 8 * 1024 * 1024,
  /** The maximum size of all documents in memory while one source is read, and of all its descriptors. */
  documentBytes: 64 * 1024 * 1024,
  /** The maximum size of one descriptor. */
  descriptorBytes: 256 * 1024,
  /** The maximum depth of arrays and objects in a descriptor. */
  descriptorDepth: 32,
  /** The maximum number of skills of one source. */
  entries: 10_000,
  /** The maximum number of skills of one source whose descriptors are read. */
  descriptors: 1_000,
  /** The maximum number of documents of one catalog. */
  pages: 100,
  problems: 100,
  nameLength: 64,
  descriptionLength: 1_024,
  versionLength: 64,
  idLength: 256,
  urlLength: 2_048,
} as const;
