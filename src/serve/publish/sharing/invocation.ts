import { SkillsError } from "../../../base/errors.ts";
import { invalidInput, noSuchParameter, shown } from "../../../base/failures/invalid-input.ts";
import { networkOf } from "../../../base/network/address.ts";
import { asAvailable, nearest } from "../../../base/text/nearest.ts";
import { writeWholeResult } from "../../../runtime/runs.ts";
import { parseJsonBody, readJsonBody, isRefusal } from "../../../wire/http.ts";
import type { RouteResult, CreateRoutes, HttpExchange, HttpRoute, ServeContext } from "../../serve-context.ts";
import { isInvoked } from "./descriptor.ts";
import { type Execution, type ExecutionRequest, createExecutions, executionParameters } from "./executions.ts";
import { findDiscovered } from "./listing.ts";
import { withSharingErrors } from "./sharing-error.ts";

/** Seconds until a missing result should be requested again. */
const askAgainAfter = "1";

/** Invocation of `api` skills: started by POST, followed by GET, cancelled by DELETE. */
export const invocationRoutes: CreateRoutes = (context) => {
  const { app } = context;
  const executions = createExecutions(context);

  const keyOf = (exchange: HttpExchange): Parameters<typeof executions.find>[0] => {
    const { caller } = exchange;
    const slug = exchange.param("slug");
    const published = context.publication().bySlug.get(slug);
    // A skill that the caller may not use any more seems absent. One that is not published any more has left its results.
    if (published !== undefined && !(caller.discovers(published) && caller.invokes(published))) throw absent();
    return { caller, slug, id: exchange.param("id") };
  };

  async function start(exchange: HttpExchange): Promise<RouteResult> {
    const { slug } = findInvoked(context, exchange).skill;
    const { caller, request } = exchange;
    const bytes = await readJsonBody(request, { maxBytes: caller.requestBytes });
    if (isRefusal(bytes)) return { ...bytes, code: "VALIDATION_ERROR" };
    if (context.draining.aborted) throw new SkillsError("RUNTIME_BUSY", "The server is being stopped.");
    const input = readInput(bytes);
    const [share, signal] = [shareOf(context, exchange), clientOf(exchange)];
    const id = await executions.start({ caller, slug, input, share, signal });
    const url = `${context.baseUrl()}/skills/${slug}/executions/${id}`;
    const accepted = { execution_id: id, status: "accepted", status_url: url, result_url: `${url}/result` };
    return exchange.sendJson(202, accepted, { location: url });
  }

  async function answerResult(exchange: HttpExchange): Promise<RouteResult> {
    const found = await executions.find(keyOf(exchange));
    if (found?.outcome === undefined) return sendStatus(exchange, found, 202);
    const { id, state, outcome } = found;
    const { owner } = exchange.caller.tools;
    const result = { ...outcome, execution_id: id, status: state };
    const bytes = await writeWholeResult(result, { owner, blobs: app.blobs }, clientOf(exchange));
    return exchange.send(200, bytes, { "content-type": "application/json", "cache-control": "no-store" });
  }

  const answered = (answer: HttpRoute["answer"]): HttpRoute["answer"] => withSharingErrors(app.log, answer);
  const [all, one] = ["/skills/:slug/executions", "/skills/:slug/executions/:id"];
  const find = answered(async (exchange) => sendStatus(exchange, await executions.find(keyOf(exchange))));
  const cancel = answered(async (exchange) => sendStatus(exchange, await executions.cancel(keyOf(exchange))));
  return [
    { method: "POST", path: all, answer: answered(start) },
    { method: "GET", path: one, answer: find },
    { method: "DELETE", path: one, answer: cancel },
    { method: "GET", path: `${one}/result`, answer: answered(answerResult) },
  ];
};

function sendStatus(exchange: HttpExchange, execution: Execution | undefined, status = 200): RouteResult {
  if (execution === undefined) throw absent();
  const { id, state, outcome } = execution;
  const headers = outcome === undefined ? { "retry-after": askAgainAfter } : {};
  return exchange.sendJson(status, { execution_id: id, status: state }, headers);
}

function absent(): SkillsError {
  return new SkillsError("SKILL_NOT_FOUND", "There is no such execution; results are stored for 24 hours.");
}

/** Finds the skill that a path names, if the caller may invoke it. */
function findInvoked(context: ServeContext, exchange: HttpExchange): ReturnType<typeof findDiscovered> {
  const published = findDiscovered(context, exchange);
  const { caller } = exchange;
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

/** Reads the parameters for `execute_skill`, which checks the values. */
function readInput(bytes: Buffer): object {
  const body = bytes.length === 0 ? {} : parseJsonBody(bytes);
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

/** Returns the share of a caller in the executions; each address of anonymous callers has its own. */
function shareOf({ config }: ServeContext, { caller, request }: HttpExchange): ExecutionRequest["share"] {
  const { name, isAnonymous } = caller;
  const limits = isAnonymous ? config.anonymous.limits : config.callers.find((one) => one.name === name)?.limits;
  const key = isAnonymous ? `address ${networkOf(request.socket.remoteAddress ?? "")}` : `caller ${name}`;
  return { key, limit: (limits ?? config.anonymous.limits).concurrentRequests };
}

/** Returns a signal that is aborted if the client leaves before the whole answer was sent. */
function clientOf({ response }: HttpExchange): AbortSignal {
  const client = new AbortController();
  const left = (): void => {
    if (!response.writableFinished) client.abort();
  };
  if (response.destroyed) left();
  response.once("close", left);
  return client.signal;
}
