import type { Server } from "node:net";
import type { Duplex, Readable } from "node:stream";
import type { FrameReader } from "../frames/frames.ts";

/** A started sandbox that waits for its one run. */
export interface SandboxProcess {
  /** Of the outermost process. */
  readonly pid: number | undefined;
  readonly control: Duplex;
  readonly frames: FrameReader;
  readonly program: Duplex;
  /** What the program prints. They end with the last process of the run, even if the sandbox is still exiting. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly listener: { readonly server: Server; readonly port: number } | undefined;
  /** Resolves when the outermost process is dead; with namespaces, all others are dead by then too. */
  readonly exited: Promise<void>;
  /** Exit code or signal; for people. */
  readonly lastWords: () => string;
  kill(): void;
  /** Closes our ends. */
  release(): void;
  /** Whether it keeps this process alive. Initially it does not. */
  keepAlive(wanted: boolean): void;
}
