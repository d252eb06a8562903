import type { IncomingMessage, ServerResponse } from "node:http";
import { SkillsError, isSkillsError } from "../../../base/errors.ts";
import type { RunHost, SecretAnswer } from "../../sandbox.ts";
import { requestLimits } from "../frames.ts";
import { hopByHop } from "./tunnel.ts";

/** Answers a script that asks the host to make a request with a secret. Must not throw. */
export type SecretEndpoint = (request: IncomingMessage, response: ServerResponse) => void;

/** The path of the endpoint on the listener of a run. */
export const endpointPath = "/fetch";

const prefix = "acp-skills-";
/** The headers that clients add by themselves for the connection to the endpoint. */
const ofConnection = new Set([...hopByHop, "host", "user-agent", "accept-encoding", "content-length"]);
/** The headers of an answer that describe its transfer to the host. */
const ofAnswer = new Set([...hopByHop, "content-length", "content-encoding"]);

/**
 * Opens the endpoint of a run. The header `acp-skills-url` has the URL, and `acp-skills-secret` the name of the secret. Method, other
 * headers and body are those of the request. A refusal has a header `acp-skills-error`. Aborting `over` gives up pending requests.
 */
export function openSecretEndpoint(
  fetch: NonNullable<RunHost["fetch"]>,
  uses: readonly string[],
  over: AbortSignal,
): SecretEndpoint {
  const names = [...new Set(uses.map((use) => use.slice(0, use.indexOf("@"))))];

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<SecretAnswer> {
    const left = new AbortController();
    response.once("close", () => left.abort(new Error("The script has closed the connection.")));
    const { [`${prefix}url`]: url, [`${prefix}secret`]: secret = names.length === 1 ? names[0] : undefined } =
      request.headers;
    const wanted = `${prefix}url: https://host/path and ${prefix}secret: ${names.join(" or ")}`;
    if (typeof url !== "string" || typeof secret !== "string")
      throw new SkillsError("VALIDATION_ERROR", `Send the headers ${wanted}.`);
    const headers = pairsOf(request.rawHeaders).filter(([name]) => {
      const lower = name.toLowerCase();
      return !lower.startsWith(prefix) && !ofConnection.has(lower);
    });
    const body = await readBody(request);
    const { method = "GET" } = request;
    return await fetch({ url, method, headers, secret, body }, AbortSignal.any([over, left.signal]));
  }

  return (request, response) => {
    serve(request, response)
      .then(({ status, headers, body }) => {
        const shown = Object.entries(headers).filter(([name]) => !ofAnswer.has(name));
        response.writeHead(status, Object.fromEntries(shown)).end(body);
      })
      .catch((error: unknown) => {
        if (response.headersSent || response.destroyed) response.destroy();
        else refuse(response, error);
      });
  };
}

const statuses: Readonly<Partial<Record<string, number>>> = {
  VALIDATION_ERROR: 400,
  PERMISSION_DENIED: 403,
  RATE_LIMITED: 429,
  EXECUTION_TIMEOUT: 504,
};

/** Reports the message of a `SkillsError`; of other errors, nothing. */
function refuse(response: ServerResponse, error: unknown): void {
  const [code, text] = isSkillsError(error) ? [error.code, error.message] : ["INTERNAL", "The request failed."];
  const headers = { "content-type": "text/plain; charset=utf-8", [`${prefix}error`]: code, connection: "close" };
  response.writeHead(statuses[code] ?? 502, headers).end(`${text}\n`);
}

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    parts.push(part as Buffer);
    size += (part as Buffer).length;
    if (size > requestLimits.bodyBytes)
      throw new SkillsError("VALIDATION_ERROR", `The body has more than ${requestLimits.bodyBytes} bytes.`);
  }
  return Buffer.concat(parts);
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index): [string, string][] => (index % 2 === 0 ? [[name, raw[index + 1] ?? ""]] : []));
}
