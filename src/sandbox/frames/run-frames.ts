import type { RunLimits, SandboxRun, Tier } from "../sandbox.ts";

/** Paths inside the sandbox. */
interface Roots {
  readonly skills: string;
  readonly workspace: string;
  readonly blobs: string;
  readonly output: string;
  readonly temporary: string;
  readonly project: string | null;
  readonly packages: string | null;
}

/** What a run frame needs to know about the tier. */
export interface Surroundings {
  readonly tier: Tier;
  readonly roots: Roots;
  /** For scripts; absent where they run in the same interpreter. */
  readonly interpreters?: { readonly python: string; readonly bash: string; readonly node: string };
  readonly environment: Readonly<Record<string, string>>;
  readonly proxyPort: number | undefined;
}

type Frame = { readonly type: string; readonly [key: string]: unknown };

const megabyte = 1024 * 1024;
const gigabyte = 1024 * megabyte;
const openFiles = 256;
/** The supervisor's limit is exact; the kernel's limits per process are higher. */
const memoryMargin = 256 * megabyte;
/** V8 reserves more memory than it uses. */
const nodeMargin = 2 * gigabyte;
const addressMargin = 4 * gigabyte;
const nodeAddresses = 128 * gigabyte;
const processors = 64;

/** Starts the supervisor's watch. */
export function startFrame({ limits }: SandboxRun, { tier, roots }: Surroundings): Frame {
  return {
    type: "start",
    tier,
    roots,
    limits: {
      memory_bytes: limits.memoryBytes,
      processes: limits.processes,
      tasks: tasksOf(limits),
      disk_bytes: limits.diskBytes,
      output_files: limits.outputFiles,
    },
  };
}

/** Starts the program. */
export function runFrame(run: SandboxRun, surroundings: Surroundings): Frame {
  const { program, limits } = run;
  const { roots, interpreters } = surroundings;
  const isNode = program.type === "script" && program.language === "node";
  return {
    type: "run",
    run_id: run.runId,
    deadline_ms: limits.timeoutMs,
    program:
      program.type === "script" && interpreters !== undefined
        ? { ...program, interpreter: interpreters[program.language] }
        : program,
    skills: run.skills.map(({ name, entry }) => ({ name, ...(entry === undefined ? {} : { entry }) })),
    brokered: run.brokered,
    blobs: run.blobs.map(({ id, kind, size }) => ({ id, kind, size_bytes: size })),
    secrets: run.secrets,
    environment: environmentOf(surroundings),
    roots,
    limits: {
      memory_bytes: limits.memoryBytes,
      processes: limits.processes,
      tasks: tasksOf(limits),
      file_bytes: limits.diskBytes,
      cpu_seconds: Math.ceil(limits.timeoutMs / 1000) * processors,
      open_files: openFiles,
      result_bytes: limits.resultBytes,
      output_files: limits.outputFiles,
      data_bytes: limits.memoryBytes + (isNode ? nodeMargin : memoryMargin),
      address_bytes: isNode ? nodeAddresses : limits.memoryBytes + addressMargin,
    },
    network: surroundings.proxyPort !== undefined,
  };
}

/** Processes and threads: runtimes such as Node start a dozen threads. */
function tasksOf({ processes }: RunLimits): number {
  return 2 * processes + 32;
}

function environmentOf({ environment, proxyPort }: Surroundings): Record<string, string> {
  if (proxyPort === undefined) return { ...environment };
  const proxy = `http://127.0.0.1:${proxyPort}`;
  return { ...environment, HTTP_PROXY: proxy, HTTPS_PROXY: proxy, http_proxy: proxy, https_proxy: proxy };
}
