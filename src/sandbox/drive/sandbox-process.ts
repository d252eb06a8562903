import type { Server } from "node:net";
import type { Duplex, Readable } from "node:stream";
import type { FrameReader } from "../frames/frames.ts";

/** A sandbox that was started, and waits for its one run. */
export interface SandboxProcess {
  /** Of the outermost process, while it lives. */
  readonly pid: number | undefined;
  readonly control: Duplex;
  readonly frames: FrameReader;
  readonly program: Duplex;
  /** What the program prints: they end when no process of the run is left, whether or not the sandbox still stands. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly listener: { readonly server: Server; readonly port: number } | undefined;
  /** When the outermost process is dead; in a tier with namespaces, all the others are dead by then. */
  readonly exited: Promise<void>;
  /** What killed it, or how it exited; for people. */
  readonly lastWords: () => string;
  kill(): void;
  /** Closes our ends. */
  release(): void;
  /** Whether this process stays alive for its sake; while it waits it does not. */
  keepAlive(wanted: boolean): void;
}
