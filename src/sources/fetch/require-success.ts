import { SkillsError, type SkillsErrorCode } from "../../base/errors.ts";
import type { RemoteAnswer } from "../fetch.ts";

const codes: Readonly<Record<number, SkillsErrorCode>> = {
  401: "AUTH_REQUIRED",
  403: "PERMISSION_DENIED",
  429: "RATE_LIMITED",
};

/** What a person can do about 401 and 403. */
export const needsCredentials =
  "which needs credentials: --token env:NAME of acp-skills add, update, discover and find, or the URL of a share (/s/TOKEN/) from its publisher";

/** The answer if its status is 200. Otherwise throws: never with the path or query of the URL, which can hold a token. `what` is a noun. */
export function requireSuccess(answer: RemoteAnswer, what: string, now: number = Date.now()): RemoteAnswer {
  const { status, headers, url } = answer;
  if (status === 200) return answer;
  const { host } = new URL(url);
  const seconds = retryAfterSeconds(headers, now);
  const advice = seconds === undefined ? "" : `; try again after ${seconds} s`;
  const reason = status === 401 || status === 403 ? `, ${needsCredentials}` : "";
  throw new SkillsError(
    codes[status] ?? "ENDPOINT_UNREACHABLE",
    `${host} answered with status ${status} for ${what}${reason}${advice}.`,
    { facts: { status, ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }) } },
  );
}

const longestWait = 24 * 60 * 60;

/** How long a server asks to wait, in whole seconds of at most a day; undefined if it says nothing. `now`: milliseconds since 1970. */
export function retryAfterSeconds(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const text = headers["retry-after"]?.trim();
  if (text === undefined) return undefined;
  const seconds = /^[0-9]{1,12}$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - now) / 1_000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), longestWait);
}
