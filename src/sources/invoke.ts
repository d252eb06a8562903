import type { Clock } from "../base/clock.ts";
import { createDeferred, unlessAborted } from "../base/promises.ts";
import {
  hasTooManyValues,
  maxJsonDepth,
  maxJsonValues,
  parseIfJson,
  parseUntrustedJson,
} from "../base/json/json-value.ts";
import { isSkillsError } from "../base/errors.ts";
import { attempt } from "../base/failures/system-error.ts";
import { acceptedExecution, executionStatus, sharingError, sharingErrors } from "../wire/skill-sharing.ts";
import type { Fetcher, RemoteAnswer, RemoteRequest } from "./fetch.ts";
import { retryAfterSeconds } from "./fetch/read-answer.ts";
import { type InvocationEnd, type InvocationError, toEnd } from "./invoke/invocation-end.ts";

export { useOfSkill } from "./invoke/to-skill-files.ts";
export type { InvocationEnd, StaysThere } from "./invoke/invocation-end.ts";

/** A skill to be invoked on another machine. */
export interface Invocation {
  readonly endpoint: string;
  readonly args: unknown;
  /** The headers with credentials, which are sent to the origin of the endpoint only. */
  readonly headers: Readonly<Record<string, string>>;
  /** The time limit of the whole invocation, in milliseconds. */
  readonly timeoutMs: number;
  /** The maximum size of the result, in bytes. */
  readonly maxBytes: number;
}

interface InvocationMeans {
  readonly fetcher: Pick<Fetcher, "fetch">;
  readonly clock: Clock;
  /** Returns the time in milliseconds since 1970, for `Retry-After`. */
  readonly now?: () => number;
}

const firstWaitMs = 200;
const maxWaitMs = 5_000;
/** The number of failed requests in a row that ends the polling; fewer may be a short disturbance. */
const maxFailedPolls = 5;
const statusBytes = 64 * 1024;
const requestMs = 30_000;
const cancelMs = 5_000;
const json = { accept: "application/json" };

/**
 * Invokes a skill and waits for its result: POST, then its status until it has ended, then the result. After the time limit, or if
 * `signal` is aborted, the execution is cancelled. Faults of the other machine are returned; rejects only with the reason of `signal`.
 */
export async function invokeSkill(
  invocation: Invocation,
  means: InvocationMeans,
  signal: AbortSignal,
): Promise<InvocationEnd> {
  signal.throwIfAborted();
  const { clock } = means;
  const late = new AbortController();
  const stopTimer = clock.after(invocation.timeoutMs, () => late.abort(timedOut));
  const over = AbortSignal.any([signal, late.signal]);
  const calls = remoteExecution(invocation, means, over);
  try {
    return await calls.run();
  } catch (error) {
    if (!over.aborted && error instanceof Failure) return { type: "failed", error: error.reported };
    if (!over.aborted) throw error;
    await calls.cancel();
    signal.throwIfAborted();
    return { type: "timeout" };
  } finally {
    stopTimer();
  }
}

const timedOut = new Error("The invocation took too long.");

/** The failure of an invocation. `passes`: whether the next request may succeed. */
class Failure extends Error {
  readonly reported: InvocationError;
  readonly passes: boolean;
  constructor(reported: InvocationError, passes = false) {
    super(reported.message);
    this.reported = reported;
    this.passes = passes;
  }
}

/** Controls the execution of an invocation on the other machine, until it has ended. */
function remoteExecution(
  invocation: Invocation,
  { fetcher, clock, now = Date.now }: InvocationMeans,
  signal: AbortSignal,
) {
  const { args, headers: credentials, timeoutMs, maxBytes } = invocation;
  const endpoint = new URL(invocation.endpoint);
  const { host } = endpoint;
  let status: string | undefined;

  /** Requests a URL at growing intervals until `read` returns a result; an answer has the status 200 or 202. */
  async function poll<Result>(
    url: string,
    maxBytes: number,
    read: (answer: RemoteAnswer) => Result | undefined,
  ): Promise<Result> {
    for (let waitMs = firstWaitMs, failed = 0; ; waitMs = Math.min(waitMs * 1.5, maxWaitMs)) {
      let retryMs = 0;
      try {
        const answer = await ask({ url, maxBytes, timeoutMs: requestMs });
        if (answer.status !== 200 && answer.status !== 202) throw refusal(answer, host);
        failed = 0;
        const result = read(answer);
        if (result !== undefined) return result;
        retryMs = Math.min((retryAfterSeconds(answer.headers, now()) ?? 0) * 1_000, timeoutMs);
      } catch (error) {
        // The next request may succeed.
        if (!(error instanceof Failure) || !error.passes || ++failed >= maxFailedPolls) throw error;
      }
      await wait(Math.max(waitMs, retryMs));
    }
  }

  async function ask(request: RemoteRequest): Promise<RemoteAnswer> {
    const headers = { ...json, ...request.headers, ...credentials };
    try {
      const answer = await fetcher.fetch({ ...request, headers }, signal);
      if (new URL(answer.url).origin === endpoint.origin) return answer;
    } catch (error) {
      if (signal.aborted || !isSkillsError(error)) throw error;
      const { code, message } = error;
      const isLong = code === "FILE_TOO_LARGE";
      throw new Failure({ type: isLong ? "OutputLimitError" : "EndpointError", code, message }, !isLong);
    }
    throw unusable(host, "redirected to another origin");
  }

  /** Resolves a URL of the endpoint's origin. Throws for another origin, which is not approved and must not get the credentials. */
  function ownUrl(text: string): string {
    const url = URL.canParse(text, endpoint) ? new URL(text, endpoint) : undefined;
    if (url?.origin === endpoint.origin) return url.href;
    throw unusable(host, "named a URL of another origin for the execution");
  }

  async function wait(ms: number): Promise<void> {
    const { promise: waited, resolve } = createDeferred();
    const stop = clock.after(ms, resolve);
    await unlessAborted(waited, signal).finally(stop);
  }

  return {
    async run(): Promise<InvocationEnd> {
      const answer = await ask({
        url: invocation.endpoint,
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ args, timeout_ms: timeoutMs }),
        maxBytes,
        // The answer may already be the result.
        timeoutMs,
      });
      if (answer.status === 200) return toEnd(parse(answer, host), true);
      if (answer.status !== 202) throw refusal(answer, host);
      const accepted = acceptedExecution.safeParse(parse(answer, host));
      if (!accepted.success) throw unusable(host, "accepted the invocation without an execution_id");
      const { execution_id: id, status_url: statusUrl, result_url: resultUrl } = accepted.data;
      const own = new URL(endpoint);
      own.search = "";
      own.pathname = `${own.pathname.replace(/\/$/, "")}/${encodeURIComponent(id)}`;
      const url = ownUrl(statusUrl ?? own.href);
      const result = ownUrl(resultUrl ?? `${own.href}/result`);
      status = url;
      await wait(firstWaitMs);
      await poll(url, statusBytes, (found) => {
        const read = executionStatus.safeParse(parse(found, host));
        if (!read.success) throw unusable(host, "sent no status of the execution");
        return read.data.status === "accepted" || read.data.status === "running" ? undefined : read.data;
      });
      return await poll(result, maxBytes, (found) =>
        found.status === 200 ? toEnd(parse(found, host), false) : undefined,
      );
    },

    /** Cancels the execution, if one was accepted. DELETE is an extension by acp-skills, which other servers may refuse. Never throws. */
    async cancel(): Promise<void> {
      if (status === undefined) return;
      const headers = { ...json, ...credentials };
      const request = { url: status, method: "DELETE", headers, maxBytes: statusBytes, timeoutMs: cancelMs };
      await fetcher.fetch(request, new AbortController().signal).catch(() => undefined);
    },
  };
}

function parse({ body }: RemoteAnswer, host: string): unknown {
  if (hasTooManyValues(body))
    throw unusable(host, `gave an answer with more than ${maxJsonValues} keys and values, the limit`);
  // The output lies one level deeper, inside the answer.
  const value = attempt(() => parseUntrustedJson(Buffer.from(body), 1 + maxJsonDepth), undefined);
  if (value === undefined) throw unusable(host, "gave an answer that is not JSON");
  return value;
}

/** Converts a refused request, with the code and message of Skill Sharing if the body has them. */
function refusal({ status, body }: RemoteAnswer, host: string): Failure {
  const passes = status >= 500 || status === 429;
  const read = sharingError.safeParse(hasTooManyValues(body) ? undefined : parseIfJson(Buffer.from(body).toString()));
  if (!read.success) {
    const message = `${host} answered with status ${status}.`;
    return new Failure({ type: "EndpointError", code: codeOf(status), message }, passes);
  }
  const { code, message, details, retry } = read.data.error;
  const more = { status, ...(details !== undefined && { details }), ...(retry && { retry }) };
  return new Failure({ type: "EndpointError", code, message, details: more }, passes);
}

function unusable(host: string, what: string): Failure {
  return new Failure({ type: "InvalidAnswerError", code: "ENDPOINT_UNREACHABLE", message: `${host} ${what}.` });
}

/** Returns the code of Skill Sharing for a status. An internal error means only that the endpoint cannot be used. */
function codeOf(status: number): string {
  const [code = "INTERNAL"] = Object.entries(sharingErrors).find(([, other]) => other === status) ?? [];
  return code === "INTERNAL" ? "ENDPOINT_UNREACHABLE" : code;
}
