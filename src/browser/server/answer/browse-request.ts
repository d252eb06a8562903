import type { IncomingMessage, ServerResponse } from "node:http";
import type * as z from "zod";
import { isJsonContentType, readBody } from "../../../wire/http/read-body.ts";
import { hasTooManyValues } from "../../../base/json/json-value.ts";
import { SkillsError } from "../../../base/errors.ts";
import type { BrowseRequest } from "../browse-door.ts";

const maxJsonBytes = 64 * 1024;
const maxJsonValues = 10_000;

/** A request as routes see it. */
export function toBrowseRequest(
  incoming: IncomingMessage,
  response: ServerResponse,
  { params, stopped }: { readonly params: ReadonlyMap<string, string>; readonly stopped: AbortSignal },
): BrowseRequest {
  const target = incoming.url ?? "";
  const gone = new AbortController();
  response.once("close", () => {
    gone.abort(new SkillsError("CLOSED", "The page went away."));
  });
  return {
    incoming,
    query: new URLSearchParams(target.includes("?") ? target.slice(target.indexOf("?") + 1) : ""),
    param(name) {
      const value = params.get(name);
      if (value === undefined) throw new Error(`This route has no :${name}.`);
      return value;
    },
    json: (schema) => readJson(incoming, schema),
    async bytes(most) {
      const body = await readBody(incoming, most);
      if (body !== undefined) return body;
      throw new SkillsError("BLOB_TOO_LARGE", `The body is too large; the limit is ${most} bytes.`);
    },
    signal: AbortSignal.any([gone.signal, stopped]),
  };
}

async function readJson<Value>(incoming: IncomingMessage, schema: z.ZodType<Value>): Promise<Value> {
  if (!isJsonContentType(incoming.headers["content-type"])) throw invalid("Send the body as application/json.");
  const bytes = await readBody(incoming, maxJsonBytes);
  if (bytes === undefined) throw invalid(`The body is too large; the limit is ${maxJsonBytes} bytes.`);
  if (hasTooManyValues(bytes, maxJsonValues)) throw invalid(`The body has more than ${maxJsonValues} values.`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw invalid("The body is not JSON.");
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(`The body is not as expected: /${issue?.path.join("/") ?? ""}: ${issue?.message ?? "invalid"}.`);
}

function invalid(message: string): SkillsError {
  return new SkillsError("VALIDATION_ERROR", message);
}
