import { parseIfJson } from "../../base/json/json-value.ts";
import { type Steps, inParallel, runInSlices } from "../../base/promises.ts";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import { LimitedProblems, type Listed, indexLimits } from "./indexes/collect-skills.ts";
import type { Fetcher } from "../fetch.ts";
import { toLabel } from "../source.ts";
import { type SourceClient, type SourceResponse, createSourceClient, withoutPrivateLinks } from "./source-client.ts";
import type { IndexForm, ReadDescriptors, RemoteSkill } from "../reader.ts";
import { parseAgentSkills } from "./indexes/agent-skills.ts";
import { parseDescriptor, parseSharingPage } from "./indexes/skill-sharing.ts";

/** A catalog that was found, with all its pages. */
export interface FoundListing extends Listed {
  readonly form: Exclude<IndexForm, "marketplace" | "git" | "scheme">;
  readonly isPartial: boolean;
  readonly etags: Readonly<Record<string, string>>;
}

/** A marketplace that was found; `url` is the URL that answered. */
type FoundMarketplace = Extract<ParsedDocument, { form: "marketplace" }> & { readonly url: string };

/** An answer that lists no skills; `said` is a clause. */
interface NothingFound {
  readonly form: "nothing";
  readonly said: string;
  /** Whether something may be there that could not be read now. */
  readonly hasFailed: boolean;
  /** Why there was no answer; this concerns the host, not the URL. */
  readonly why: string | undefined;
  /** The error of an unusable descriptor. */
  readonly fault?: SkillsError;
}

export type ListingResult = FoundListing | FoundMarketplace | NothingFound;

/** Requests a URL and reads the skills that it lists, page by page. */
export async function readListing(address: string, client: SourceClient): Promise<ListingResult> {
  const answer = await client.ask(address);
  const first = await read(answer);
  if (first.form === "nothing" || first.form === "marketplace") return first;
  const { form } = first;
  const problems = new LimitedProblems();
  const skills = new Map<string, RemoteSkill>();
  const etags: Record<string, string> = {};
  const asked = new Set([address]);
  let isPartial = false;
  const add = (page: ListedPage, url: string, etag: string | undefined): void => {
    if (etag !== undefined) etags[url] = etag;
    problems.add(...page.problems.map((problem) => `${toLabel(url)}: ${problem}`));
    for (const skill of page.skills) {
      if (!skills.has(skill.name)) skills.set(skill.name, skill);
      else problems.add(`${toLabel(url)}: the name ${skill.name} is listed on two pages; the first one is used`);
    }
  };
  add(first, address, "etag" in answer ? answer.etag : undefined);
  for (let { next } = first; next !== undefined && !asked.has(next);) {
    if (asked.size >= indexLimits.pages || skills.size >= indexLimits.entries) {
      problems.add(`${toLabel(address)}: only the first ${skills.size} skills are read`);
      break;
    }
    asked.add(next);
    const following = await client.ask(next);
    const page = await read(following);
    if (page.form === "nothing" || page.form === "marketplace") {
      isPartial = true;
      problems.add(page.form === "nothing" ? page.said : `${toLabel(next)} is not a page of this catalog`);
      break;
    }
    add(page, next, "etag" in following ? following.etag : undefined);
    ({ next } = page);
  }
  return {
    form,
    skills: [...skills.values()].slice(0, indexLimits.entries),
    problems: problems.all(),
    isPartial,
    etags,
  };
}

type ListedPage = Exclude<ParsedDocument, { readonly form: "marketplace" }>;

async function read(answer: SourceResponse): Promise<ListedPage | FoundMarketplace | NothingFound> {
  const why = "why" in answer ? answer.why : undefined;
  const hasFailed = answer.type === "failed";
  const nothing = (said: string): NothingFound => ({ form: "nothing", said, hasFailed, why });
  if (answer.type !== "text") return nothing(answer.said);
  try {
    const document = await runInSlices(parseDocument(answer.text, answer.url));
    if ("why" in document) return nothing(`${answer.said} (${document.why})`);
    return document.form === "marketplace" ? { ...document, url: answer.url } : document;
  } catch (error) {
    if (!isSkillsError(error)) throw error;
    const fault = new SkillsError(error.code, `${toLabel(answer.url)}: ${error.message}`);
    return { ...nothing(fault.message), fault };
  }
}

/** A parsed document of a source. */
export type ParsedDocument =
  | (Listed & { readonly form: Exclude<IndexForm, "marketplace" | "git" | "scheme">; readonly next?: string })
  /** A marketplace, whose entries lead to repositories that are read elsewhere. */
  | { readonly form: "marketplace"; readonly json: unknown };

/** The reason why a text is no document: a sentence without a full stop. */
export interface NotDocument {
  readonly why: string;
}

/**
 * Reads a document of any form that sources publish; its content decides the form. `url` is the URL that answered. Throws the errors of
 * `parseDescriptor`.
 */
export function* parseDocument(text: string, url: string): Steps<ParsedDocument | NotDocument> {
  const json = parseIfJson(text);
  if (json === undefined) return { why: "it is not JSON" };
  if (Array.isArray(json)) return { form: "registry", ...(yield* parseSharingPage(json, url)) };
  if (typeof json !== "object" || json === null) return { why: "it is neither an object nor an array" };
  const has = (key: string): boolean => Object.hasOwn(json, key);
  if (has("plugins")) return { form: "marketplace", json };
  if (has("capability_type") || has("endpoint"))
    return { form: "descriptor", skills: [parseDescriptor(json, url)], problems: [] };
  if (has("protocol"))
    return { form: has("provider") ? "skill-sharing" : "registry", ...(yield* parseSharingPage(json, url)) };
  if (has("skills")) return yield* parseAgentSkills(json as Readonly<Record<string, unknown>>, url);
  return { why: "it lists no skills" };
}

const concurrentRequests = 4;

/**
 * Reads the descriptors of skills; other skills stay as they are. A faulty descriptor makes its skill unusable and is reported. Rejects
 * only with the reason of the signal, or for an internal error.
 */
export async function readDescriptors(
  skills: readonly RemoteSkill[],
  { fetcher, signal }: { readonly fetcher: Fetcher; readonly signal: AbortSignal },
): Promise<ReadDescriptors> {
  const client = createSourceClient({ fetcher, signal, maxBytes: indexLimits.descriptorBytes });
  const problems: string[] = [];
  let isPartial = false as boolean;
  let asked = 0;
  const read = await inParallel(skills, concurrentRequests, async (skill): Promise<RemoteSkill> => {
    if (skill.content.type !== "descriptor") return skill;
    if (++asked > indexLimits.descriptors) return skill;
    const { url } = skill.content;
    const answer = await client.ask(url);
    if (answer.type === "failed") {
      isPartial = true;
      problems.push(`${skill.name}: ${answer.said}`);
      return skill;
    }
    const found = answer.type === "text" ? toDescribed(answer.text, answer.url, skill) : { why: answer.said };
    if (!("why" in found)) return withoutPrivateLinks({ ...found, name: skill.name }, url, fetcher);
    problems.push(`${skill.name}: ${found.why}`);
    return { ...skill, content: { type: "unusable", why: found.why } };
  });
  if (asked > indexLimits.descriptors)
    problems.push(`${asked} skills have descriptors; the first ${indexLimits.descriptors} are read`);
  return { skills: read, problems, ...(isPartial && { isPartial }) };
}

function toDescribed(text: string, url: string, { id }: RemoteSkill): RemoteSkill | { readonly why: string } {
  try {
    const found = parseDescriptor(JSON.parse(text) as unknown, url);
    if (id === undefined || found.id === id) return found;
    return { why: `${toLabel(url)} describes another skill, ${found.id ?? "without an id"}` };
  } catch (error) {
    if (error instanceof SyntaxError) return { why: `${toLabel(url)} is not JSON` };
    if (isSkillsError(error)) return { why: error.message };
    throw error;
  }
}
