import type { Clock } from "../../../base/clock.ts";
import { SkillsError, isSkillsError } from "../../../base/errors.ts";
import { createSemaphore } from "../../../base/promises.ts";
import type { Fetcher } from "../../../sources/fetch.ts";
import type { RunStep } from "../../../wire/run-event.ts";
import type { RunHost, SecretAnswer, SecretRequest } from "../../sandbox.ts";
import { requestLimits } from "../../sandbox/frames.ts";
import { maskForCode, minSentValueLength } from "../../secrets/mask-secrets.ts";
import { type SentSecret, checkRequest, invalid } from "./checked-request.ts";

export type { SentSecret } from "./checked-request.ts";

/** Opens the fetcher for the requests of one run. `origins`: those that may receive its secrets, which the user approved. */
export type OpenRequests = (origins: readonly string[]) => Promise<Pick<Fetcher, "fetch" | "close">>;

export interface SecretRequestsOptions {
  readonly secrets: readonly SentSecret[];
  readonly open: OpenRequests;
  readonly clock: Clock;
  /** The end of the run, in milliseconds of `clock`. */
  readonly deadline: number;
  /** Must not throw. */
  readonly notify: (step: Extract<RunStep, { readonly type: "secret_sent" }>) => void;
}

/** The requests that a run makes with secrets which its code cannot read. */
export interface SecretRequests {
  readonly fetch: NonNullable<RunHost["fetch"]>;
  /** Ends the requests that are in progress. */
  close(): Promise<void>;
}

/** Printable ASCII, which every server reads as it was sent. */
const sendable = /^[!-~](?:[ -~]*[!-~])?$/;

/** Opens the requests of one run. Throws SECRET_MISSING for a value that cannot be sent or cannot be masked. */
export function openSecretRequests(options: SecretRequestsOptions): SecretRequests {
  const { secrets, open, clock, deadline, notify } = options;
  for (const { name, value } of secrets) expectSendable(name, value);
  const mask = maskForCode(secrets.flatMap(hiddenValuesOf));
  const enter = createSemaphore(requestLimits.atOnce);
  const origins = secrets.flatMap(({ hosts }) =>
    hosts.map((host) => (host.includes("://") ? host : `https://${host}`)),
  );
  let fetcher: ReturnType<OpenRequests> | undefined;
  let asked = 0;

  async function send(request: SecretRequest, secret: SentSecret, signal: AbortSignal): Promise<SecretAnswer> {
    const { url, host, method, headers } = checkRequest(request, secret);
    const { header, scheme, value } = secret;
    const credentials = scheme === undefined ? value : `${scheme} ${value}`;
    const timeoutMs = Math.max(
      1,
      Math.min(request.timeoutMs ?? requestLimits.timeoutMs, requestLimits.timeoutMs, deadline - clock.now()),
    );
    const sent = { type: "secret_sent", secret: secret.name, host, method } as const;
    fetcher ??= open(origins);
    const { fetch } = await fetcher;
    signal.throwIfAborted();
    try {
      const answer = await fetch(
        {
          url,
          method,
          headers: { ...headers, [header]: credentials },
          ...(request.body.length > 0 && { body: request.body }),
          // One byte above the limit, to notice an error answer that is too long: it is cut off there, maybe inside the value.
          maxBytes: requestLimits.answerBytes + 1,
          timeoutMs: Math.round(timeoutMs),
          staysThere: true,
        },
        signal,
      );
      notify({ ...sent, status: answer.status });
      return await readable(answer, host);
    } catch (error) {
      if (!(isSkillsError(error) && error.code === "SOURCE_INVALID")) notify(sent);
      throw error;
    }
  }

  async function readable(answer: SecretAnswer, host: string): Promise<SecretAnswer> {
    const { status, headers, body } = answer;
    const isEncoded = ["content-encoding", "transfer-encoding"].some((name) => isCoded(headers[name]));
    if (isEncoded)
      throw new SkillsError("SOURCE_INVALID", `${host} sent an encoded answer although identity was requested.`);
    if (body.length > requestLimits.answerBytes)
      throw new SkillsError("FILE_TOO_LARGE", `${host} sent more than ${requestLimits.answerBytes} bytes, the limit.`);
    const shown = async (text: string): Promise<string> => Buffer.from(await mask(Buffer.from(text))).toString();
    const masked: [string, string][] = [];
    for (const [name, text] of Object.entries(headers)) masked.push([await shown(name), await shown(text)]);
    return { status, headers: Object.fromEntries(masked), body: await mask(body) };
  }

  return {
    async fetch(request, signal) {
      const secret = secrets.find(({ name }) => name === request.secret);
      if (secret === undefined) throw unknownSecret(request.secret, secrets);
      if (++asked > requestLimits.requests)
        throw new SkillsError("RATE_LIMITED", `A run makes at most ${requestLimits.requests} requests with secrets.`);
      const leave = await enter();
      try {
        signal.throwIfAborted();
        return await send(request, secret, signal);
      } finally {
        leave();
      }
    },
    async close() {
      await (await fetcher?.catch(() => undefined))?.close();
    },
  };
}

function isCoded(coding = ""): boolean {
  return !["", "identity", "chunked"].includes(coding.trim().toLowerCase());
}

function unknownSecret(name: string, secrets: readonly SentSecret[]): SkillsError {
  const names = secrets.map((secret) => secret.name).join(", ");
  return invalid(
    `There is no secret ${JSON.stringify(name.slice(0, 128))} to send; the skill names hosts for ${names}`,
  );
}

function expectSendable(name: string, value: string): void {
  const what = !sendable.test(value)
    ? "has characters that no header can carry"
    : value.length < minSentValueLength
      ? `has fewer than ${minSentValueLength} characters, so that it could be guessed`
      : undefined;
  if (what !== undefined) throw new SkillsError("SECRET_MISSING", `The value of ${name} ${what}.`);
}

/** Lists the texts to mask: the value and, for Basic authentication, the decoded credentials and the password. */
function hiddenValuesOf({ scheme, value }: SentSecret): readonly string[] {
  if (scheme?.toLowerCase() !== "basic") return [value];
  const plain = Buffer.from(value, "base64").toString();
  const password = plain.slice(plain.indexOf(":") + 1);
  return [value, plain, password].filter((text) => text.length >= minSentValueLength);
}
