import { isUtf8 } from "node:buffer";
import { hasTooManyValues, maxJsonValues } from "../../base/json/json-value.ts";
import { inParallel } from "../../base/promises.ts";
import { isSkillsError } from "../../base/errors.ts";
import type { Fetcher, RemoteAnswer } from "../fetch.ts";
import { needsCredentials } from "../fetch/read-answer.ts";
import { indexLimits } from "./indexes/collect-skills.ts";
import { toLabel } from "../source.ts";
import type { RemoteContent, RemoteSkill } from "../reader.ts";

/**
 * The answer of a URL. `said` is a clause about it for the user: `https://example.com/x answered 404`; `why`, if there was no answer, is
 * the same without the URL.
 */
export type SourceResponse =
  | {
      readonly type: "text";
      readonly url: string;
      readonly text: string;
      readonly etag: string | undefined;
      readonly said: string;
    }
  | { readonly type: "unchanged"; readonly said: string }
  /** Nothing to read; another request would not change that. */
  | { readonly type: "absent"; readonly said: string; readonly why?: string }
  /** Something may be there: the server has a fault or is busy, or cannot be reached. */
  | { readonly type: "failed"; readonly said: string; readonly why?: string };

export interface SourceClient {
  /** Requests a URL once; the answer is cached. Rejects only with the reason of the signal, or for an internal error. */
  ask(url: string): Promise<SourceResponse>;
  /** Whether all URLs answer that nothing changed since these ETags. */
  areUnchanged(etags: Readonly<Record<string, string>>): Promise<boolean>;
}

interface SourceClientOptions {
  readonly fetcher: Fetcher;
  readonly signal: AbortSignal;
  readonly maxBytes?: number;
}

const timeoutMs = 20_000;
const concurrentRequests = 4;
const maxSize = `${indexLimits.documentBytes / 1024 / 1024} MiB`;

/** Creates a client that requests each document once. */
export function createSourceClient(options: SourceClientOptions): SourceClient {
  const answers = new Map<string, Promise<SourceResponse>>();
  let stored = 0;
  /** Requests a URL within the limit of all documents: many pages, each within its own limit, would not fit into memory. */
  const askWithin = async (url: string, etag?: string): Promise<SourceResponse> => {
    if (stored >= indexLimits.documentBytes)
      return { type: "absent", said: `${toLabel(url)} was not asked: what was read before has ${maxSize} together` };
    const answer = await askOnce(url, etag, options);
    if (answer.type === "text") stored += answer.text.length;
    return answer;
  };
  return {
    ask(url) {
      const known = answers.get(url) ?? askWithin(url);
      answers.set(url, known);
      return known;
    },
    async areUnchanged(etags) {
      const found = await inParallel(Object.entries(etags), concurrentRequests, async ([url, etag]) => {
        const answer = await askWithin(url, etag);
        if (answer.type !== "unchanged") answers.set(url, Promise.resolve(answer));
        return answer.type === "unchanged";
      });
      return found.length > 0 && found.every(Boolean);
    },
  };
}

async function askOnce(
  url: string,
  etag: string | undefined,
  { fetcher, signal, maxBytes = indexLimits.bytes }: SourceClientOptions,
): Promise<SourceResponse> {
  const label = toLabel(url);
  const headers = { accept: "application/json, */*;q=0.1", ...(etag !== undefined && { "if-none-match": etag }) };
  let answer: RemoteAnswer;
  try {
    answer = await fetcher.fetch({ url, headers, maxBytes, timeoutMs }, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!isSkillsError(error)) throw error;
    return {
      type: error.code === "FILE_TOO_LARGE" ? "absent" : "failed",
      said: `${label}: ${withoutStop(error.message)}`,
      why: withoutStop(error.message),
    };
  }
  const { status } = answer;
  if (status === 304 && etag !== undefined) return { type: "unchanged", said: `${label} has not changed` };
  if (status >= 500 || status === 408 || status === 425 || status === 429)
    return { type: "failed", said: `${label} answered ${status}` };
  if (status === 401 || status === 403)
    return { type: "absent", said: `${label} answered ${status}, ${needsCredentials}` };
  if (status !== 200) return { type: "absent", said: `${label} answered ${status}` };
  if (hasTooManyValues(answer.body))
    return { type: "absent", said: `${label} answered with more than ${maxJsonValues} keys and values, the limit` };
  if (!isUtf8(answer.body)) return { type: "absent", said: `${label} answered with something that is not text` };
  const text = new TextDecoder().decode(answer.body);
  const said = `${label} answered with something else`;
  return { type: "text", url: answer.url, text, said, etag: answer.headers["etag"] };
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

const onPrivateHost = "it is on a private host, to which a public source must not lead";

/** Returns the skill; unusable if it is downloaded from a private host that the user allowed, but not for `from`. */
export function withoutPrivateLinks(
  skill: RemoteSkill,
  from: string,
  { leadsInside }: Pick<Fetcher, "leadsInside">,
): RemoteSkill {
  const found = urlsOf(skill.content).find((url) => leadsInside(from, url));
  if (found === undefined) return skill;
  return { ...skill, content: { type: "unusable", why: `${new URL(found).host} is not asked: ${onPrivateHost}` } };
}

/** Returns the URLs of downloads. An `api` skill has none: its endpoint is approved first. URLs of git are checked where git is read. */
export function urlsOf(content: RemoteContent): readonly string[] {
  if (content.type === "files") return content.files.map(({ url }) => url);
  return "url" in content ? [content.url] : [];
}
