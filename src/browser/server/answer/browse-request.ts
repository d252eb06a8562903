import type { IncomingMessage, ServerResponse } from "node:http";
import { SkillsError } from "../../../base/errors.ts";
import { parseJsonBody, readBody, readJsonBody, isRefusal } from "../../../wire/http.ts";
import type { BrowseRequest } from "../browse-door.ts";

const jsonLimits = { maxBytes: 64 * 1024, maxValues: 10_000 };

/** A request as routes see it. */
export function toBrowseRequest(
  incoming: IncomingMessage,
  response: ServerResponse,
  { params, stopped }: { readonly params: ReadonlyMap<string, string>; readonly stopped: AbortSignal },
): BrowseRequest {
  const target = incoming.url ?? "";
  const gone = new AbortController();
  response.once("close", () => gone.abort(new SkillsError("CLOSED", "The page went away.")));
  return {
    incoming,
    query: new URLSearchParams(target.includes("?") ? target.slice(target.indexOf("?") + 1) : ""),
    param(name) {
      const value = params.get(name);
      if (value === undefined) throw new Error(`This route has no :${name}.`);
      return value;
    },
    async json(schema, limits = jsonLimits) {
      const bytes = await readJsonBody(incoming, limits);
      if (isRefusal(bytes))
        throw new SkillsError(bytes.status === 413 ? "BLOB_TOO_LARGE" : "VALIDATION_ERROR", bytes.message);
      const { data, error } = schema.safeParse(parseJsonBody(bytes));
      if (error === undefined) return data;
      const [issue] = error.issues;
      const place = issue?.path.join("/") ?? "";
      throw new SkillsError("VALIDATION_ERROR", `The body is not as expected: /${place}: ${issue?.message ?? ""}.`);
    },
    async bytes(most) {
      const body = await readBody(incoming, most);
      if (body !== undefined) return body;
      throw new SkillsError("BLOB_TOO_LARGE", `The body is too large; the limit is ${most} bytes.`);
    },
    signal: AbortSignal.any([gone.signal, stopped]),
  };
}
