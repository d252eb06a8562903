import { inParallel } from "../../base/promises.ts";
import { isSkillsError } from "../../base/errors.ts";
import { createSourceClient, withoutPrivateLinks } from "./source-client.ts";
import type { Fetcher } from "../fetch.ts";
import { parseDescriptor } from "./indexes/descriptor.ts";
import { indexLimits } from "./indexes/index-limits.ts";
import { toLabel } from "../source.ts";
import type { RemoteSkill } from "../reader.ts";

/** Skills with contents of other types than `descriptor`, as far as those could be read. */
export interface ReadDescriptors {
  /** In the same order, with the same names. */
  readonly skills: readonly RemoteSkill[];
  /** Sentences without a full stop. */
  readonly problems: readonly string[];
  /** A descriptor could not be read now; its skill still has the type `descriptor`. */
  readonly isPartial?: true;
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
