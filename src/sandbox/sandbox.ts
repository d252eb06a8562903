import type { DirectoryIdentity } from "../base/directory-identity.ts";

/** What isolates a run. `none` is not among them: it is no sandbox. */
export type Tier = "bubblewrap" | "landlock" | "pyodide" | "seatbelt" | "memory";

/** Why something cannot be used, and what a person can do about it. */
export interface Explanation {
  readonly reason: string;
  /** Commands, or sentences where no command will do. */
  readonly fix: readonly string[];
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A file that is laid, read-only, into the sandbox before the run. */
export interface MountedFile {
  /** Relative, `/` between the segments; never empty, absolute, or with `.` and `..` segments. */
  readonly path: string;
  readonly size: number;
  /** Must give exactly `size` bytes; whatever it throws refuses the run. */
  read(): AsyncIterable<Uint8Array>;
}

/** A skill that code inside can import: `/skills/<name>/` (CONTRACT C-5.4). */
export interface MountedSkill {
  /** Canonical name: dotted, or a slug. */
  readonly name: string;
  readonly files: readonly MountedFile[];
  /** Of an action. A skill without one can be read, not imported. */
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

export type Program =
  /** Calls the entry of a mounted skill (C-5.2). */
  | { readonly type: "skill"; readonly skill: string; readonly args: Json }
  /** Runs source code, then calls a function of it (C-5.3). */
  | { readonly type: "code"; readonly code: string; readonly entrypoint: string; readonly args: Json }
  /** Runs a file of a mounted skill by its language (C-5.6). */
  | {
      readonly type: "script";
      readonly skill: string;
      readonly file: string;
      readonly language: "python" | "bash" | "node";
      readonly argv: readonly string[];
      readonly stdin?: string;
    };

/** Everything is a hard limit; what goes past one ends the run with the failure of that name. */
export interface RunLimits {
  readonly timeoutMs: number;
  /** Of all processes of the run together. */
  readonly memoryBytes: number;
  readonly processes: number;
  /** Of `/workspace`, `/output` and the temporary directory, each. */
  readonly diskBytes: number;
  /** Of everything the program may print, before it is ended. */
  readonly printedBytes: number;
  /** Of the result, as compact JSON. */
  readonly resultBytes: number;
  readonly outputFiles: number;
}

export interface SandboxProject {
  readonly directory: string;
  readonly writable: boolean;
  /** A run that would be given another directory than this one is ended before any code of it runs. */
  readonly identity?: DirectoryIdentity | undefined;
  /** Directories in it that stay as they are, however writable it is: relative, `/` between the names, no links. */
  readonly kept?: readonly string[];
}

/** One run, as plain data and readers. */
export interface SandboxRun {
  readonly runId: string;
  readonly program: Program;
  readonly skills: readonly MountedSkill[];
  /** Names of skills that import as stubs: calling one asks `RunHost.callSkill` (C-5.5). */
  readonly brokered: readonly string[];
  readonly blobs: readonly MountedBlob[];
  readonly secrets: Readonly<Record<string, string>>;
  /** What the egress proxy lets through, such as `https://*.example.org`; empty: no network at all, name resolution included. */
  readonly network: readonly string[];
  /** The session's directory, as `/project`. */
  readonly project?: SandboxProject;
  /** A directory of installed Python packages, mounted read-only and imported from. */
  readonly packages?: string;
  readonly limits: RunLimits;
}

/** What a run may ask of its host while it runs. Everything that arrives is untrusted. */
export interface RunHost {
  /** Bytes that the program printed. Must not throw. */
  print(stream: "stdout" | "stderr", bytes: Uint8Array): void;
  /** What may be told elsewhere of a text that the program has a part in: without its secrets. Must not throw. */
  hide(text: string): string;
  /** Keeps bytes as a blob of the caller; answers its id. A thrown error becomes an exception inside. */
  createBlob(kind: string, content: AsyncIterable<Uint8Array>): Promise<string>;
  /** Runs a brokered skill; a thrown `SkillCallError` is raised inside as `SkillError`. */
  callSkill(name: string, args: Json, signal: AbortSignal): Promise<Json>;
  /** A regular file that was left in `/output`, relative path; called after every process of the run is dead. */
  output(path: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void>;
}

/** A brokered skill did not complete; crosses into the sandbox as it is. */
export interface SkillCallFailure {
  readonly type: string;
  readonly message: string;
  readonly runId?: string;
}

/** How a run that was started ended. What the host saw outranks what the code says. */
export type RunEnd =
  | {
      readonly type: "returned";
      readonly value: Json;
      readonly summary?: string;
      readonly outputBlobs?: readonly string[];
    }
  | { readonly type: "raised"; readonly error: RunError }
  /** A script ended by itself, or by a signal of its own. */
  | { readonly type: "exited"; readonly exitCode: number }
  | { readonly type: "limit"; readonly limit: "timeout" | "memory" | "processes" | "disk" | "output" }
  /** The program or the sandbox ended without a word; `detail` is for people. */
  | { readonly type: "crashed"; readonly detail: string }
  | { readonly type: "cancelled" };

export interface RunError {
  /** Name of the exception's class, such as `ValueError`. */
  readonly type: string;
  readonly message: string;
  readonly details?: { readonly [key: string]: Json };
}

/**
 * Runs code that is assumed to be hostile, within limits. One of these is one tier.
 * Nothing passes from one run to another.
 */
export interface Sandbox {
  readonly tier: Tier;
  /** Why this tier cannot offer what the run needs: a sentence for people, or `undefined`. It refuses; it never pretends. */
  refuses(run: SandboxRun): string | undefined;
  /**
   * Runs, and answers when every process of the run is dead; its files on the host, which nobody else can reach, are removed
   * right after that, and before `close` is done. An aborted `signal` ends it as `cancelled`.
   * Throws a SkillsError `SANDBOX_UNAVAILABLE` where nothing could be started; what the host's own callbacks throw passes through.
   */
  run(run: SandboxRun, host: RunHost, signal: AbortSignal): Promise<RunEnd>;
  /** Ends what runs, drains what waits, removes what it made. */
  close(): Promise<void>;
}
