import type { DirectoryIdentity } from "../base/paths/identity.ts";

export { findCommand, findPython } from "./sandbox/find.ts";
export { findCgroups } from "./sandbox/choose-sandbox.ts";
export { installRequirements } from "./sandbox/requirements.ts";

/** The isolation of a run. "none": no isolation, which the user has allowed for its skill. */
export type Tier = "bubblewrap" | "landlock" | "pyodide" | "seatbelt" | "memory" | "none";

/** Why something is not available, and how to fix it. */
export interface Explanation {
  readonly reason: string;
  /** Commands, or a sentence if no command fixes it. */
  readonly fix: readonly string[];
}

/** A feature that not every tier supports, in words. */
export type Ability =
  | "network access"
  | "project access"
  | "projects that only root can use"
  | "installed packages"
  | "scripts in bash"
  | "scripts in Node";

/** A value of JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A file that is copied into the sandbox before the run, read-only. */
export interface MountedFile {
  /** Relative, with `/` as separator; without empty, `.` and `..` segments. */
  readonly path: string;
  readonly size: number;
  /** Must yield exactly `size` bytes. If it throws, the run does not start. */
  read(): AsyncIterable<Uint8Array>;
}

/** A skill that the code can read in `/skills/<name>/` and import. */
export interface MountedSkill {
  /** Canonical name. */
  readonly name: string;
  readonly files: readonly MountedFile[];
  /** The entrypoint. A skill without one can be read but not imported. */
  readonly entry?: { readonly file: string; readonly export: string };
}

/** A blob of the caller, mounted as `/blobs/<id>`, with and without the `blob:` of its id. */
export interface MountedBlob {
  /** `blob:…` */
  readonly id: string;
  readonly kind: string;
  readonly size: number;
  read(): AsyncIterable<Uint8Array>;
}

/** The program of a run: code, the entry point of an action, or a script of a skill. */
type Program =
  /** Calls the entry of a mounted skill. */
  | { readonly type: "skill"; readonly skill: string; readonly args: Json }
  /** Runs source code, then calls a function of it. */
  | { readonly type: "code"; readonly code: string; readonly entrypoint: string; readonly args: Json }
  /** Runs a file of a mounted skill by its language. */
  | {
      readonly type: "script";
      readonly skill: string;
      readonly file: string;
      readonly language: "python" | "bash" | "node";
      readonly argv: readonly string[];
      readonly stdin?: string;
    };

/** Hard limits: exceeding one ends the run with the failure of that name. */
export interface RunLimits {
  readonly timeoutMs: number;
  /** For all processes of the run together. */
  readonly memoryBytes: number;
  readonly processes: number;
  /** For each of `/workspace`, `/output` and the temporary directory. */
  readonly diskBytes: number;
  /** For everything that the program prints. */
  readonly printedBytes: number;
  /** For the result, as compact JSON. */
  readonly resultBytes: number;
  readonly outputFiles: number;
}

/** The project that a run may read or change. */
export interface SandboxProject {
  readonly directory: string;
  readonly writable: boolean;
  /** The identity of the directory. If it has changed, the run ends before any of its code is executed. */
  readonly identity?: DirectoryIdentity | undefined;
  /** Directories in it that stay read-only: relative, with `/` as separator, without symbolic links. */
  readonly readOnly?: readonly string[];
}

/** One run, as plain data and readers. */
export interface SandboxRun {
  readonly runId: string;
  readonly program: Program;
  readonly skills: readonly MountedSkill[];
  /** Names of skills that are imported as stubs: calling one calls `RunHost.callSkill`. */
  readonly brokered: readonly string[];
  readonly blobs: readonly MountedBlob[];
  readonly secrets: Readonly<Record<string, string>>;
  /** Secrets that the host sends for the run, such as `GH_TOKEN@api.github.com`; the run never gets their values. Absent: none. */
  readonly uses?: readonly string[];
  /** Allowed destinations, such as `https://*.example.org`. Empty: no network access, including name resolution. */
  readonly network: readonly string[];
  /** The session's directory, as `/project`. */
  readonly project?: SandboxProject;
  /** Present if the run has no sandbox. The tier "none" supports only such runs; no other tier supports them. */
  readonly isolation?: "none";
  /** A directory of installed Python packages, mounted read-only. */
  readonly packages?: string;
  readonly limits: RunLimits;
}

/** The fields of a run that a tier has to support. */
export type RunNeeds = Pick<SandboxRun, "program" | "network" | "project" | "packages" | "isolation" | "uses">;

/** The host of a run, and the calls that the run can make. All arguments are untrusted. */
export interface RunHost {
  /** Bytes that the program printed. Must not throw. */
  print(stream: "stdout" | "stderr", bytes: Uint8Array): void;
  /** Masks the run's secrets in a text for logs. Must not throw. */
  hide(text: string): string;
  /** Stores a blob of the caller and returns its id. A thrown error becomes an exception of the program. */
  createBlob(kind: string, content: AsyncIterable<Uint8Array>): Promise<string>;
  /** Runs a brokered skill. A thrown `SkillCallFailure` becomes a `SkillError` of the program. */
  callSkill(name: string, args: Json, signal: AbortSignal): Promise<Json>;
  /** Makes a request with a secret that the run may use; absent if it may use none. A thrown error becomes one of the program. */
  readonly fetch?: (request: SecretRequest, signal: AbortSignal) => Promise<SecretAnswer>;
  /** Called for each regular file in `/output`, with its relative path, after every process of the run is dead. */
  output(path: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void>;
}

/** A request that a program asks its host to make with one of its secrets. All of it is untrusted. */
export interface SecretRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  /** The name of the secret. */
  readonly secret: string;
  readonly timeoutMs?: number | undefined;
}

/** The server's answer, without the value of the secret. */
export interface SecretAnswer {
  readonly status: number;
  /** Names in lower case; of repeated headers the first. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Why a brokered skill failed, as the program sees it. */
export interface SkillCallFailure {
  readonly type: string;
  readonly message: string;
  readonly runId?: string;
}

/** The end of a run. What the host observed takes precedence over what the code reported. */
export type RunEnd =
  | {
      readonly type: "returned";
      readonly value: Json;
      readonly summary?: string;
      readonly outputBlobs?: readonly string[];
    }
  /** `code`: the error code of a failure on another machine. */
  | { readonly type: "raised"; readonly error: RunError; readonly code?: string }
  /** A script exited, or was killed by its own signal. */
  | { readonly type: "exited"; readonly exitCode: number }
  | { readonly type: "limit"; readonly limit: "timeout" | "memory" | "processes" | "disk" | "output" }
  /** The program or the sandbox exited without a result; `detail` is human-readable. */
  | { readonly type: "crashed"; readonly detail: string }
  | { readonly type: "cancelled" };

/** Why code failed. */
export interface RunError {
  /** Name of the exception's class, such as `ValueError`. */
  readonly type: string;
  readonly message: string;
  readonly details?: { readonly [key: string]: Json };
}

/** The port to a tier, which runs code that is assumed to be hostile. No state passes from one run to another. */
export interface Sandbox {
  /** The name in results and in the ledger; for the sandboxes of acp-skills, a tier. */
  readonly tier: string;
  /** The abilities that are missing on this machine, with reasons. All reports, requirements, questions and refusals quote these texts. */
  readonly lacks: Readonly<Partial<Record<Ability, string>>>;
  /** A sentence for the user: what would support more, why this machine does not have it, and how to get it. */
  readonly remedy?: string;
  /** Why this tier does not support the run: a sentence for the user, or `undefined`. */
  refuses(run: RunNeeds): string | undefined;
  /**
   * Resolves when every process of the run is dead. The run's private files on the host are removed soon after, at the latest when `close`
   * resolves. Aborting `signal` ends the run as `cancelled`. Throws a SkillsError `SANDBOX_UNAVAILABLE` if the run cannot be started;
   * errors of the host's callbacks are passed on.
   */
  run(run: SandboxRun, host: RunHost, signal: AbortSignal): Promise<RunEnd>;
  /** Ends all runs and removes all processes and files. */
  close(): Promise<void>;
}
