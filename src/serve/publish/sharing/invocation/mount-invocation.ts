import { isJsonContentType, readJsonBody } from "../../../../wire/http/read-body.ts";
import { invalidInput, noSuchParameter, shown } from "../../../../base/failures/invalid-input.ts";
import { asAvailable, nearest } from "../../../../base/text/nearest.ts";
import { SkillsError } from "../../../../base/errors.ts";
import { writeWholeResult } from "../../../../runtime/runs.ts";
import { isRefusal } from "../../../../wire/http/refusal.ts";
import { withSharingErrors } from "../sharing-error.ts";
import { type HttpContext, type HttpDoor, type MountRoutes, toRefusalResponse } from "../../../http-door.ts";
import { findDiscovered } from "../find-discovered.ts";
import { isInvoked } from "../to-entry.ts";
import { type ExecutionRequest, createExecutions, executionParameters } from "./executions.ts";
import type { Execution } from "./to-execution.ts";
import { networkOf } from "../../../../base/network/address.ts";

const json = { "content-type": "application/json", "cache-control": "no-store" };
/** Seconds until a result that is not there yet should be asked for again. */
const askAgainAfter = "1";

/** Invocation of `api` skills (CONTRACT C-6.4): started by POST, followed by GET, cancelled by DELETE. */
export const mountInvocation: MountRoutes = (routes, door) => {
  const { app } = door;
  const executions = createExecutions(door);

  const answering = (work: (context: HttpContext) => Promise<Response>) => withSharingErrors(app.log, work);

  const keyOf = (context: HttpContext): Parameters<typeof executions.find>[0] => {
    const { req, env } = context;
    const { caller } = env;
    const slug = req.param("slug") ?? "";
    const published = door.publication().bySlug.get(slug);
    // What the caller may no longer use behaves as absent; what is no longer published has left its results.
    if (published !== undefined && !(caller.discovers(published) && caller.invokes(published))) throw absent();
    return { caller, slug, id: req.param("id") ?? "" };
  };

  routes.post(
    "/skills/:slug/executions",
    answering(async (context) => {
      const { incoming } = context.env;
      const { slug } = findInvoked(door, context).skill;
      if (!isJsonContentType(incoming.headers["content-type"])) {
        const message = "Send the request with Content-Type: application/json.";
        return toRefusalResponse(context, { status: 415, code: "VALIDATION_ERROR", message });
      }
      const { caller } = context.env;
      const bytes = await readJsonBody(incoming, { maxBytes: caller.requestBytes });
      if (isRefusal(bytes)) return toRefusalResponse(context, bytes);
      if (door.draining.aborted) throw new SkillsError("RUNTIME_BUSY", "The server is being stopped.");
      const input = readInput(bytes);
      const [share, signal] = [shareOf(door, context), clientOf(context)];
      const id = await executions.start({ caller, slug, input, share, signal });
      const url = `${door.baseUrl()}/skills/${slug}/executions/${id}`;
      const text = JSON.stringify({
        execution_id: id,
        status: "accepted",
        status_url: url,
        result_url: `${url}/result`,
      });
      return new Response(text, { status: 202, headers: { ...json, location: url } });
    }),
  );
  routes.get(
    "/skills/:slug/executions/:id",
    answering(async (context) => toStatus(await executions.find(keyOf(context)))),
  );
  routes.delete(
    "/skills/:slug/executions/:id",
    answering(async (context) => toStatus(await executions.cancel(keyOf(context)))),
  );
  routes.get(
    "/skills/:slug/executions/:id/result",
    answering(async (context) => {
      const found = await executions.find(keyOf(context));
      if (found?.outcome === undefined) return toStatus(found, 202);
      const { id, state, outcome } = found;
      const { owner } = context.env.caller.tools;
      const result = { ...outcome, execution_id: id, status: state };
      const bytes = await writeWholeResult(result, { owner, blobs: app.blobs }, clientOf(context));
      return new Response(new Uint8Array(bytes), { status: 200, headers: json });
    }),
  );
};

function toStatus(execution: Execution | undefined, status = 200): Response {
  if (execution === undefined) throw absent();
  const { id, state, outcome } = execution;
  const headers = { ...json, ...(outcome === undefined && { "retry-after": askAgainAfter }) };
  return new Response(JSON.stringify({ execution_id: id, status: state }), { status, headers });
}

function absent(): SkillsError {
  return new SkillsError("SKILL_NOT_FOUND", "There is no such execution; results are kept for 24 hours.");
}

/** The skill that a path names, if the caller may invoke it (seed, 5.5). */
function findInvoked(door: HttpDoor, context: HttpContext): ReturnType<typeof findDiscovered> {
  const published = findDiscovered(door, context);
  const { caller } = context.env;
  const { slug } = published.skill;
  if (!isInvoked(published)) {
    const hint = "Its descriptor says where it is downloaded.";
    throw new SkillsError("NOT_EXECUTABLE", `The skill ${slug} cannot be invoked. ${hint}`, { facts: { hint } });
  }
  const mayExecute = caller.tools.tools?.includes("execute_skill") !== false;
  if (caller.invokes(published) && mayExecute) return published;
  if (caller.isAnonymous) throw new SkillsError("AUTH_REQUIRED", `The skill ${slug} is invoked with a bearer token.`);
  throw new SkillsError("PERMISSION_DENIED", `This caller may not invoke the skill ${slug}.`);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** What `execute_skill` is called with; it checks the values. */
function readInput(bytes: Uint8Array): object {
  let body: unknown = {};
  try {
    if (bytes.length > 0) body = JSON.parse(utf8.decode(bytes));
  } catch {
    throw new SkillsError("PARSE_ERROR", "The request body is not valid JSON.");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new SkillsError("VALIDATION_ERROR", 'The request body must be an object, such as {"args": {}}.');
  const unknown = Object.keys(body).filter((name) => !executionParameters.includes(name));
  const [first] = unknown;
  if (first === undefined) return body;
  const violations = unknown.map((name) => ({
    field: `/${name.slice(0, 80)}`,
    expected: noSuchParameter,
    actual: shown((body as Record<string, unknown>)[name]),
  }));
  throw invalidInput("the execution", violations, { available: nearest(first, executionParameters, asAvailable) });
}

/** Anonymous callers are told apart by address. */
function shareOf({ config }: HttpDoor, { env }: HttpContext): ExecutionRequest["share"] {
  const { name, isAnonymous } = env.caller;
  const limits = isAnonymous ? config.anonymous.limits : config.callers.find((caller) => caller.name === name)?.limits;
  const key = isAnonymous ? `address ${networkOf(env.incoming.socket.remoteAddress ?? "")}` : `caller ${name}`;
  return { key, limit: (limits ?? config.anonymous.limits).concurrentRequests };
}

/** Aborted if the client leaves before all of the answer was sent. */
function clientOf({ env: { outgoing } }: HttpContext): AbortSignal {
  const client = new AbortController();
  const left = (): void => {
    if (!outgoing.writableFinished) client.abort();
  };
  if (outgoing.destroyed) left();
  outgoing.once("close", left);
  return client.signal;
}
