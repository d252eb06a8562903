import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { FetchLike, Transport } from "@modelcontextprotocol/client";
import { SKILLS_EXTENSION_ID, SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import type { Clock } from "../../../../base/clock.ts";
import { SkillsError, isSkillsError } from "../../../../base/errors.ts";
import { hasTooManyValues, maxJsonValues } from "../../../../base/json/json-value.ts";
import { cutCodePoints } from "../../../../base/text/code-points.ts";
import { withoutControls } from "../../../../base/text/unsafe-characters.ts";
import { version } from "../../../../base/version.ts";
import type { Fetcher } from "../../../fetch.ts";
import { requireSuccess } from "../../../fetch/read-answer.ts";
import { ProgramTransport, maxMessageBytes } from "./program-transport.ts";
import type { ServerLocation } from "./server-text.ts";
import { badSource } from "../../source-label.ts";

/** The time limit of one request, in milliseconds; a connection as a whole has a limit of its own. */
export const requestMs = 30_000;
const probeMs = 5_000;
const maxPages = 100;
const maxMessageLength = 300;

/** A connection to a server that has the Skills extension. */
export interface ConnectedServer {
  readonly skills: SkillsClient;
  /** Returns the error that ended the connection; undefined while it stands. */
  failure(): SkillsError | undefined;
  close(): Promise<void>;
}

interface ConnectOptions {
  readonly fetcher: Fetcher;
  readonly clock: Clock;
}

/** Connects, and agrees on a revision of MCP. Throws SOURCE_INVALID without the extension, and the errors of `Fetcher.fetch`. */
export async function connectServer(
  location: ServerLocation,
  { fetcher, clock }: ConnectOptions,
  signal: AbortSignal,
): Promise<ConnectedServer> {
  if ("url" in location) {
    const transport = new StreamableHTTPClientTransport(new URL(location.url), { fetch: fetchThrough(fetcher) });
    return await converse(transport, "auto", () => undefined, signal);
  }
  const program = new ProgramTransport(location.words, clock);
  try {
    return await converse(program, "auto", () => program.failure, signal);
  } catch (error) {
    signal.throwIfAborted();
    // Some servers of older revisions end when a client requests a newer one.
    if (program.failure?.code !== "ENDPOINT_UNREACHABLE") throw error;
    const again = new ProgramTransport(location.words, clock);
    return await converse(again, "legacy", () => again.failure, signal);
  }
}

async function converse(
  transport: Transport,
  mode: "auto" | "legacy",
  failure: () => SkillsError | undefined,
  signal: AbortSignal,
): Promise<ConnectedServer> {
  const client = new Client(
    { name: "acp-skills", version },
    {
      // Servers may offer skills only to clients that declare the extension.
      capabilities: { extensions: { [SKILLS_EXTENSION_ID]: {} } },
      versionNegotiation: { mode, probe: { timeoutMs: probeMs } },
      inputRequired: { autoFulfill: false },
      listMaxPages: maxPages,
    },
  );
  const close = async (): Promise<void> => {
    await client.close();
    await transport.close();
  };
  try {
    await client.connect(transport, { signal, timeout: requestMs });
    const skills = new SkillsClient(client, { skipInvalid: true });
    if (!skills.supported) throw badSource("The server has no skills: it does not declare MCP's Skills extension");
    return { skills, failure, close };
  } catch (error) {
    const fault = toServerFault(error, failure());
    await close();
    throw fault;
  }
}

/** Converts a fault of a server to a SkillsError. Texts of the server are cut, and shown without control characters. */
export function toServerFault(error: unknown, failure: SkillsError | undefined): SkillsError {
  for (let at = error; at instanceof Error; at = at.cause) if (isSkillsError(at)) return at;
  if (failure !== undefined) return failure;
  const said = error instanceof Error ? cutCodePoints(withoutControls(error.message), maxMessageLength) : "";
  if (error instanceof ProtocolError) return badSource(`The server answered with an error: ${said}`, error);
  const isLate = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
  const isEndless = error instanceof SdkError && error.code === SdkErrorCode.ListPaginationExceeded;
  if (isEndless) return badSource(`The server lists its skills in more than ${maxPages} pages, the limit`);
  if (isLate) return new SkillsError("EXECUTION_TIMEOUT", "The server did not answer in time; try again.");
  return badSource(`The server does not speak MCP as it should: ${said}`, error);
}

/** Sends the requests of the client by the `Fetcher`, with its rules. Answers are read whole: a stream of events has to end. */
function fetchThrough(fetcher: Fetcher): FetchLike {
  return async (input, init = {}) => {
    const { method = "GET", body, signal } = init;
    // No stream is opened for messages that were not requested.
    if (method !== "POST" && method !== "DELETE") return new Response(null, { status: 405 });
    const answer = await fetcher.fetch(
      {
        url: String(input),
        method,
        headers: Object.fromEntries(new Headers(init.headers)),
        ...(typeof body === "string" && { body }),
        maxBytes: maxMessageBytes,
        timeoutMs: requestMs,
      },
      signal ?? new AbortController().signal,
    );
    const { status, headers } = answer;
    if (status === 401 || status === 403 || status === 429 || status >= 500) requireSuccess(answer, "its skills");
    if (hasTooManyValues(answer.body))
      throw badSource(`The server sent more than ${maxJsonValues} keys and values, the limit`);
    const isEmpty = status === 204 || status === 205 || status === 304;
    return new Response(isEmpty ? null : Buffer.from(answer.body), { status, headers });
  };
}
