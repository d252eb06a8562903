import { isDeepStrictEqual } from "node:util";
import type { InvocationEnd, StaysThere } from "../../../sources/invoke.ts";
import type { Json, RunEnd } from "../../sandbox.ts";
import { permissionsOf } from "../../../skills/permissions.ts";
import type { RemoteRunSpec } from "../execute.ts";
import { findMount, skillChanged } from "../plan/plan-run.ts";
import type { RunCaller } from "../run-caller.ts";
import { type PreparedRun, type RunEnvironment, readSecrets } from "./prepare-run.ts";

/** The maximum bytes of a result besides its output: logs, ids, a summary. */
const envelopeBytes = 64 * 1024;

/** Resolves the secret of an authorized invocation. Throws SECRET_MISSING or SKILL_NOT_READY. */
export async function prepareRemoteRun(
  { program, ...spec }: RemoteRunSpec,
  caller: RunCaller,
  environment: Pick<RunEnvironment, "readSecret" | "invoke">,
  signal: AbortSignal,
): Promise<PreparedRun> {
  const [mount] = spec.mounts;
  const found = mount && (await findMount(mount, caller, signal));
  const remote = found?.skill.manifest?.remote;
  // The approval is for the endpoint that the files of this digest name.
  if (remote?.endpoint !== program.endpoint || !isDeepStrictEqual(found && permissionsOf(found.skill), spec.needs))
    throw skillChanged(program.skill);
  const secrets = await readSecrets(spec, caller, environment);
  const { header = "authorization", scheme = header === "authorization" ? "Bearer" : undefined } = remote;
  const value = remote.secret === undefined ? undefined : secrets[remote.secret];
  const headers = value === undefined ? {} : { [header]: scheme === undefined ? value : `${scheme} ${value}` };
  const { runId, limits } = spec;
  const { endpoint, args } = program;
  const { timeoutMs, resultBytes } = limits;
  const invocation = { endpoint, args, headers, timeoutMs, maxBytes: resultBytes + envelopeBytes };
  return {
    isolation: "remote",
    run: { runId, program, limits, network: spec.needs.network, secrets },
    execute: async (_host, whileRunning) =>
      toRunEnd(await environment.invoke(invocation, whileRunning), new URL(endpoint).host),
  };
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
      // Pass on only a code that is spelled like those of acp-skills.
      const [code] = /^[A-Z][A-Z0-9_]{0,63}$/.exec(end.error.code ?? "") ?? [];
      return {
        type: "raised",
        error: { type, message, ...(more !== undefined && { details: more }) },
        ...(code !== undefined && { code }),
      };
    }
    case "timeout":
      return { type: "limit", limit: "timeout" };
  }
}

/** Names the results that stay on the other machine. The note precedes the summary, whose end may be cut. */
function toNote({ blobs, output }: StaysThere, host: string): string {
  if (output) return `Only a preview of the output is here: ${host} keeps the rest.`;
  return `Blobs that the run created (${blobs}) stay on ${host} and cannot be read here.`;
}
