import { SkillsError, isSkillsError } from "../../base/errors.ts";
import { type Fetcher, type FetcherOptions, openFetcher } from "../fetch.ts";
import type { GitSource } from "./git/git-source.ts";
import { toSkillFiles } from "../invoke/to-skill-files.ts";
import { fetchSkillFiles } from "./fetch-skill-files.ts";
import { readSource } from "./read-source.ts";
import { createSourceClient, urlsOf, withoutPrivateLinks } from "./source-client.ts";
import type { ReadDescriptors, RemoteSkill, SourceLister } from "../reader.ts";
import { toLabel } from "../source.ts";
import { inParallel } from "../../base/promises.ts";
import { parseDescriptor } from "./indexes/skill-sharing.ts";
import { indexLimits } from "./indexes/collect-skills.ts";

/** Why nothing may be read from a URL, as a policy has it; undefined if it may. */
export type SourceDenial = (url: string) => { readonly why: string; readonly hint: string } | undefined;

/** Opens all ways to sources: the documents of the web, and git. Connects to nothing before the first reading. Throws INVALID_OPTIONS. */
export function openSourceReader(
  options: FetcherOptions & { readonly denied?: SourceDenial | undefined },
): SourceLister {
  const fetcher = openFetcher(options);
  let opened: Promise<GitSource> | undefined;
  // Most sources need no git: it is loaded with the first one that does.
  const git = (): Promise<GitSource> =>
    (opened ??= import("./git/git-source.ts").then(({ openGitSource }) => openGitSource({ ...options, fetcher })));
  return {
    async list(source, signal) {
      refuseDenied([source.url], options.denied);
      return await readSource(source, { fetcher, git, signal });
    },
    readDescriptors: (skills, signal) => readDescriptors(skills, { fetcher, signal }),
    async read(source, before, signal) {
      refuseDenied([source.url], options.denied);
      const index = await readSource(source, { fetcher, git, signal, ...before });
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
      refuseDenied(placesOf(content), options.denied);
      if (content.type !== "api") return await fetchSkillFiles(content, { fetcher, git, signal });
      // It is invoked, not downloaded: we write its files.
      const files = toSkillFiles(content.descriptor, name);
      if ("why" in files) throw new SkillsError("SOURCE_INVALID", files.why);
      return files;
    },
    async close() {
      try {
        await (await opened)?.close();
      } finally {
        await fetcher.close();
      }
    },
  };
}

/** Throws PERMISSION_DENIED. */
function refuseDenied(urls: readonly string[], denied: SourceDenial | undefined): void {
  for (const url of urls) {
    const refusal = denied?.(url);
    if (refusal === undefined) continue;
    // The URL may hold a token.
    const why = refusal.why.replaceAll(url, toLabel(url));
    throw new SkillsError("PERMISSION_DENIED", why, { facts: { hint: refusal.hint } });
  }
}

/** All that its bytes or its runs come from, which a source may list elsewhere. */
function placesOf(content: RemoteSkill["content"]): readonly string[] {
  if (content.type === "git") return [content.repository];
  return content.type === "api" ? [content.descriptor.endpoint.url] : urlsOf(content);
}

const concurrentRequests = 4;

/**
 * Reads the descriptors of skills; other skills stay as they are. What is wrong with a descriptor makes its skill unusable and is reported.
 * Rejects only with the reason of the signal, or for a fault of ours.
 */
export async function readDescriptors(
  skills: readonly RemoteSkill[],
  { fetcher, signal }: { readonly fetcher: Fetcher; readonly signal: AbortSignal },
): Promise<ReadDescriptors> {
  const asker = createSourceClient({ fetcher, signal, maxBytes: indexLimits.descriptorBytes });
  const problems: string[] = [];
  let isPartial = false as boolean;
  let asked = 0;
  const read = await inParallel(skills, concurrentRequests, async (skill): Promise<RemoteSkill> => {
    if (skill.content.type !== "descriptor") return skill;
    if (++asked > indexLimits.descriptors) return skill;
    const { url } = skill.content;
    const answer = await asker.ask(url);
    if (answer.type === "failed") {
      isPartial = true;
      problems.push(`${skill.name}: ${answer.said}`);
      return skill;
    }
    const found = answer.type === "text" ? parse(answer.text, answer.url, skill) : { why: answer.said };
    if (!("why" in found)) return withoutPrivateLinks({ ...found, name: skill.name }, url, fetcher);
    problems.push(`${skill.name}: ${found.why}`);
    return { ...skill, content: { type: "unusable", why: found.why } };
  });
  if (asked > indexLimits.descriptors)
    problems.push(`${asked} skills have descriptors; the first ${indexLimits.descriptors} are read`);
  return { skills: read, problems, ...(isPartial && { isPartial }) };
}

function parse(text: string, url: string, { id }: RemoteSkill): RemoteSkill | { readonly why: string } {
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
