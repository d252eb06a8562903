import type { RunEnd, RunError, RunLimits } from "../../sandbox.ts";
import type { RanProgram, RunFacts, RunRecord } from "../record.ts";
import type { RunFailure } from "../run-spec.ts";
import { toPlainText, toPreview } from "./run-text.ts";
import { requirementsFile } from "../../../skills/skill.ts";

const maxMessageBytes = 2000;
const maxTypeLength = 128;
const maxDetailBytes = 4096;
/** In bytes; as JSON, a traceback may be twice as long and still fit. */
const maxTracebackBytes = 1900;

/** Explains the failure of a run that neither returned nor exited with 0, or that lost an output file. */
export async function toRunFailure(end: RunEnd, record: RunRecord, { run, mask }: RunFacts): Promise<RunFailure> {
  switch (end.type) {
    case "returned":
      return lostFiles(record);
    case "raised": {
      // The limits and remedies of this machine are not those of another one.
      if (run.program.type === "remote")
        return { ...toFailure(await mask.error(end.error)), ...(end.code !== undefined && { code: end.code }) };
      const limit = limitReached(end.error);
      if (limit !== undefined) return limitFailures[limit](run.limits);
      return withHint(toFailure(await mask.error(end.error)), run);
    }
    case "exited":
      return end.exitCode === 0 ? lostFiles(record) : withHint(await scriptFailure(end.exitCode, record, mask), run);
    case "limit":
      return limitFailures[end.limit](run.limits);
    case "crashed":
      return toFailure({ type: "SandboxCrashError", message: mask.plain(end.detail) });
    case "cancelled":
      return { type: "CancelledError", message: "The run was cancelled." };
  }
}

type Limit = Extract<RunEnd, { type: "limit" }>["limit"];

const limitFailures: Readonly<Record<Limit, (limits: RunLimits) => RunFailure>> = {
  timeout: ({ timeoutMs }) => ({
    type: "TimeoutError",
    code: "EXECUTION_TIMEOUT",
    message: `The run timed out after ${timeoutMs} ms.`,
    details: { limit_ms: timeoutMs, started: true },
  }),
  memory: ({ memoryBytes }) => ({
    type: "MemoryLimitError",
    message: `The run exceeded its memory limit of ${memoryBytes / 1024 / 1024} MiB.`,
    details: { limit_mb: memoryBytes / 1024 / 1024 },
  }),
  processes: ({ processes }) => ({
    type: "ProcessLimitError",
    message: `The run started more than ${processes} processes and was stopped.`,
    details: { limit: processes },
  }),
  disk: () => ({
    type: "DiskLimitError",
    message: "The run exceeded its disk limit: too many files, or too large ones.",
  }),
  output: ({ printedBytes, resultBytes }) => ({
    type: "OutputLimitError",
    message: "The run printed or returned more than the limit and was stopped.",
    details: { printed_bytes: printedBytes, result_bytes: resultBytes },
  }),
};

/** Finds the limit that the code inside reached, from its error. */
function limitReached({ type, message }: RunError): Limit | undefined {
  if (type === "MemoryError") return "memory";
  return type === "OSError" && /No space left|quota exceeded/i.test(message) ? "disk" : undefined;
}

function toFailure({ type, message, details }: RunError): RunFailure {
  const shown = details && fitDetails(details);
  return {
    type: toPlainText(type).slice(0, maxTypeLength) || "Error",
    message: toPreview(toPlainText(message), maxMessageBytes),
    ...(shown && { details: { ...shown } }),
  };
}

/** Shortens a traceback that is too long to its beginning and end; leaves other details out if they are too long. */
function fitDetails(details: NonNullable<RunError["details"]>): RunError["details"] {
  const { traceback } = details;
  const shortened =
    typeof traceback === "string" ? { ...details, traceback: toPreview(traceback, maxTracebackBytes) } : undefined;
  return [details, shortened].find((one) => one && Buffer.byteLength(JSON.stringify(one)) <= maxDetailBytes);
}

function withHint(failure: RunFailure, run: RunFacts["run"]): RunFailure {
  const { type, message, details = {} } = failure;
  const hint = failureHint([`${type}: ${message}`, details["stderr"]].join("\n"), run);
  return hint === undefined ? failure : { ...failure, details: { ...details, hint } };
}

async function scriptFailure(exitCode: number, record: RunRecord, mask: RunFacts["mask"]): Promise<RunFailure> {
  const shown = async (name: "stdout" | "stderr"): Promise<string> =>
    toPreview(await mask.longPlain(record.stream(name).read()), 1024);
  return {
    type: "ScriptError",
    message: `The script exited with code ${exitCode}.`,
    details: { exit_code: exitCode, stdout: await shown("stdout"), stderr: await shown("stderr") },
  };
}

/** Reports lost output files as a failure, because a completed run would hide them. */
function lostFiles({ refused }: RunRecord): RunFailure {
  const files = refused.slice(0, 10).map(({ path, why }) => ({ path: toPlainText(path), why }));
  const [first] = files;
  return {
    type: "OutputLimitError",
    message: `The output file ${JSON.stringify(first?.path)} could not be stored: ${first?.why ?? ""}`,
    details: { files },
  };
}

/** The messages of Python and Node about a missing module. */
const noModule = /ModuleNotFoundError: No module named '([\w.]+)'|Error: Cannot find (?:module|package) '([^'\n]+)'/;
/** The messages of libc, Python, Node, curl and git about a name that cannot be resolved or a host that cannot be reached. */
const noNetwork =
  /Name or service not known|Temporary failure in name resolution|nodename nor servname|getaddrinfo|ENOTFOUND|EAI_AGAIN|Could not resolve host|Network is unreachable|ENETUNREACH/;

/** Suggests what usually fixes a failed run, from its messages; undefined if nothing does. Pure. */
export function failureHint(
  reported: string,
  run: Pick<RanProgram, "program" | "network" | "project" | "isolation">,
): string | undefined {
  const [, python, node] = noModule.exec(reported) ?? [];
  if (python !== undefined) return pythonModuleHint(python, run);
  if (node !== undefined) return "npm packages are not available; put the modules that a script needs into the skill.";
  if (run.isolation === "none") return undefined;
  return run.network.length === 0 && noNetwork.test(reported) ? networkHint(run) : projectHint(reported, run);
}

function pythonModuleHint(module: string, { program }: Pick<RanProgram, "program">): string {
  const [top = ""] = module.split(".");
  if (top === "skills") return "Only skills named in mount_skills, and those a skill depends on, can be imported.";
  return program.type === "code"
    ? "run_code has the Python standard library and the skills in mount_skills; other packages are not available."
    : `If \`${top}\` is a package, list it in ${requirementsFile} of ${program.skill}, then run: acp-skills install ${program.skill}`;
}

function networkHint({ program }: Pick<RanProgram, "program">): string {
  if (program.type === "code") return "run_code has no network. Call a skill that has the network permission.";
  const { skill } = program;
  return (
    `This run has no network. Declare the hosts in skill.toml, [permissions] network = ["https://…"] ` +
    `(without a skill.toml: metadata acp-skills-network in SKILL.md), and allow them with --grant ${skill}:network.`
  );
}

/** The messages of Python, shells and Node if the kernel refuses a path below `/project`. */
const refusedPath =
  /(?:\[Errno (?:1|13|18)\] [^\n]*|EACCES: [^\n]*|EXDEV: [^\n]*)'\/project\/|\/project\/[^\n]*: (?:Permission denied|Operation not permitted|Invalid cross-device link)/;

const readOnlyPaths =
  "A run cannot change .git, .agents, AGENTS.md, other settings of git, agents, editors and CI, and the user's own skills, cannot create, move or remove files directly in /project or in a directory that contains one of these, and cannot change modes and owners. Write to an existing subdirectory or to /output.";

/** Suggests what to do if a run that may write to the project was refused a path of it; undefined for other failures. */
export function projectHint(text: string, { project }: Pick<RanProgram, "project">): string | undefined {
  return project?.writable === true && refusedPath.test(text) ? readOnlyPaths : undefined;
}
