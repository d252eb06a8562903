import { isDeepStrictEqual } from "node:util";
import type { Invocation, InvocationEnd, StaysThere } from "../../../sources/invoke.ts";
import type { Json, RunEnd } from "../../sandbox.ts";
import { permissionsOf } from "../../../skills/permissions.ts";
import { findMount, skillChanged } from "../plan/plan-run.ts";
import { createBlobBudget, recordRun } from "../record.ts";
import { createMask } from "../record/run-text.ts";
import { toRunResult } from "../record/to-run-result.ts";
import type { RunCaller } from "../run-caller.ts";
import type { RunSpec } from "../run-spec.ts";
import type { CurrentRun, EndedRun, ExecutionEnvironment, Nesting } from "../execute.ts";
import { type RunEnvironment, readSecrets } from "./prepare-run.ts";

/** A run of a skill that another machine offers. No code of it runs here, so that no sandbox is needed. */
export type RemoteRunSpec = RunSpec & { readonly program: Extract<RunSpec["program"], { readonly type: "remote" }> };

export function isRemote(spec: RunSpec): spec is RemoteRunSpec {
  return spec.program.type === "remote";
}

/** What isolates such a run. */
export const remotely = "remote";

/** Of a result, what is around its output: logs, ids, a summary. */
const envelopeBytes = 64 * 1024;

interface PreparedInvocation {
  readonly invocation: Invocation;
  readonly secrets: Readonly<Record<string, string>>;
}

/** Resolves the secret of an authorized invocation. Throws SECRET_MISSING or SKILL_NOT_READY. */
export async function prepareRemoteRun(
  { program, ...spec }: RemoteRunSpec,
  caller: RunCaller,
  environment: Pick<RunEnvironment, "readSecret">,
  signal: AbortSignal,
): Promise<PreparedInvocation> {
  const [mount] = spec.mounts;
  const found = mount && (await findMount(mount, caller, signal));
  const remote = found?.skill.manifest?.remote;
  // What was approved is the endpoint that the files of this digest name.
  if (remote?.endpoint !== program.endpoint || !isDeepStrictEqual(found && permissionsOf(found.skill), spec.needs))
    throw skillChanged(program.skill);
  const secrets = await readSecrets(spec, caller, environment);
  const { header = "authorization", scheme = header === "authorization" ? "Bearer" : undefined } = remote;
  const value = remote.secret === undefined ? undefined : secrets[remote.secret];
  const headers = value === undefined ? {} : { [header]: scheme === undefined ? value : `${scheme} ${value}` };
  const { timeoutMs, resultBytes } = spec.limits;
  const maxBytes = resultBytes + envelopeBytes;
  return { secrets, invocation: { endpoint: program.endpoint, args: program.args, headers, timeoutMs, maxBytes } };
}

/** Executes an authorized run on the machine that offers its skill. Throws as `prepareRemoteRun` does, and the reason of `signal`. */
export async function executeRemoteRun(
  { spec, ...current }: CurrentRun & { readonly spec: RemoteRunSpec },
  environment: ExecutionEnvironment,
  around?: Nesting,
): Promise<EndedRun> {
  const { caller, notify, starts, signal } = current;
  const { invocation, secrets } = await prepareRemoteRun(spec, caller, environment, signal);
  const start = environment.clock.now();
  const own = createMask(secrets);
  const mask = around === undefined ? own : createMask(secrets, around.hidden);
  const budget = around?.budget ?? createBlobBudget(caller.limits.runBlobs);
  const record = recordRun({ spec, caller, mask, callSkill: callsNothing, budget, notify });
  starts({ isolation: remotely });
  const remote = await environment.invoke(invocation, signal);
  const end = toRunEnd(remote, new URL(invocation.endpoint).host);
  const durationMs = Math.max(0, Math.round(environment.clock.now() - start));
  const run = { runId: spec.runId, program: spec.program, limits: spec.limits, network: spec.needs.network };
  const facts = { run, spec, caller, mask, nestedBlobs: [], durationMs, isolation: remotely };
  const ended = await toRunResult(end, record, facts);
  if (end.type === "returned") return { ...ended, returned: { value: await own.json(end.value) } };
  const code = remote.type === "failed" ? toCode(remote.error.code) : undefined;
  if (code === undefined || ended.result.status === "completed") return ended;
  return { ...ended, result: { ...ended.result, error: { ...ended.result.error, code } } };
}

function callsNothing(): Promise<never> {
  return Promise.reject(new Error("A skill on another machine calls none here."));
}

function toRunEnd(end: InvocationEnd, host: string): RunEnd {
  switch (end.type) {
    case "completed": {
      const note = end.there && toNote(end.there, host);
      const { summary = note && "Completed." } = end;
      return {
        type: "returned",
        value: end.output as Json,
        ...(summary !== undefined && { summary: note === undefined ? summary : `${note} ${summary}` }),
      };
    }
    case "failed": {
      const { type, message, details } = end.error;
      const more = details as Record<string, Json> | undefined;
      return { type: "raised", error: { type, message, ...(more !== undefined && { details: more }) } };
    }
    case "timeout":
      return { type: "limit", limit: "timeout" };
  }
}

/** What of the result stays there; first in the summary, which may be cut. */
function toNote({ blobs, output }: StaysThere, host: string): string {
  if (output) return `Only a preview of the output is here: ${host} keeps the rest.`;
  return `Blobs that the run created (${blobs}) stay on ${host} and cannot be read here.`;
}

/** A code as ours are spelled; of others, nothing. */
function toCode(code: string | undefined): string | undefined {
  return code !== undefined && /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? code : undefined;
}
