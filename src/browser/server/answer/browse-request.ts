import type { IncomingMessage, ServerResponse } from "node:http";
import type * as z from "zod";
import { SkillsError } from "../../../base/errors.ts";
import { parseJsonBody, readBody, readJsonBody } from "../../../wire/http/read-body.ts";
import { isRefusal } from "../../../wire/http/refusal.ts";
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
  const bytes = await readJsonBody(incoming, { maxBytes: maxJsonBytes, maxValues: maxJsonValues });
  if (isRefusal(bytes)) throw invalid(bytes.message);
  const parsed = schema.safeParse(parseJsonBody(bytes));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(`The body is not as expected: /${issue?.path.join("/") ?? ""}: ${issue?.message ?? "invalid"}.`);
}

function invalid(message: string): SkillsError {
  return new SkillsError("VALIDATION_ERROR", message);
}
