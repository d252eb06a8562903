import type { ChildProcess } from "node:child_process";
import { type JSONRPCMessage, type Transport, parseJSONRPCMessage } from "@modelcontextprotocol/client";
import { type Clock, withinTime } from "../../../../base/clock.ts";
import { SkillsError, isSkillsError } from "../../../../base/errors.ts";
import { attempt, systemCode } from "../../../../base/failures/system-error.ts";
import { hasTooManyValues, maxJsonValues, parseIfJson } from "../../../../base/json/json-value.ts";
import { LineBlocks } from "../../../../base/json/line-blocks.ts";
import { type ProcessTree, createProcessTree } from "../../../../base/processes/process-tree.ts";
import { spawnProcess } from "../../../../base/processes/spawn-process.ts";
import { cutCodePoints } from "../../../../base/text/code-points.ts";
import { withoutControls } from "../../../../base/text/unsafe-characters.ts";
import { badSource } from "../../source-label.ts";

/** The maximum size of a message, in bytes: 16 MiB of a file in base64, and space for the rest. */
export const maxMessageBytes = 32 * 1024 * 1024;
/** The number of bytes that are stored of a program's stderr: its end. */
const rememberedBytes = 4 * 1024;
const shownCharacters = 300;
/** How long a program has to end by itself, and then after each signal, in milliseconds. */
const graceMs = 2_000;
/** The environment variables that programs need to find themselves and their files; all others may be secrets. */
const passedOn = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TERM|TMPDIR|TEMP|TMP|NODE_EXTRA_CA_CERTS|SystemRoot|SystemDrive|PATHEXT|COMSPEC|APPDATA|LOCALAPPDATA|USERPROFILE|ProgramFiles|ProgramData)$/i; // prettier-ignore

/**
 * A transport to a server that is a program of this machine: one message a line, over stdin and stdout. The program is started without a
 * shell and with few environment variables, and ended with all the processes that it started.
 */
export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  readonly #words: readonly string[];
  readonly #clock: Clock;
  #child: ChildProcess | undefined;
  #tree: ProcessTree | undefined;
  #exited: Promise<true> = Promise.resolve(true);
  #lines = new LineBlocks();
  #stderr = Buffer.alloc(0);
  #failure: SkillsError | undefined;
  #closing: Promise<void> | undefined;

  constructor(words: readonly string[], clock: Clock) {
    this.#words = words;
    this.#clock = clock;
  }

  async start(): Promise<void> {
    const [program = "", ...args] = this.#words;
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => passedOn.test(name)));
    const isWindows = process.platform === "win32";
    const child = await spawnProcess(program, args, {
      env,
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
      // In a group of its own, which can be ended as a whole.
      detached: !isWindows,
    }).catch((error: unknown) => {
      throw isSkillsError(error) ? error : notStarted(program, error);
    });
    this.#child = child;
    this.#tree = isWindows || child.pid === undefined ? undefined : createProcessTree(child.pid);
    this.#exited = new Promise((resolve) => child.once("exit", () => resolve(true)));
    // The program may end during a write.
    child.stdin?.on("error", () => undefined);
    child.stdout?.on("data", (bytes: Buffer) => this.#receive(bytes));
    child.stderr?.on("data", (bytes: Buffer) => {
      this.#stderr = Buffer.concat([this.#stderr, bytes]).subarray(-rememberedBytes);
    });
    child.once("close", (code, signal) => {
      if (this.#closing === undefined) this.#failure ??= ended(code, signal, this.#stderr);
      this.onclose?.();
    });
  }

  /** The error after which nothing more is received; undefined while the program runs. */
  get failure(): SkillsError | undefined {
    return this.#failure;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (this.#failure !== undefined) throw this.#failure;
    if (stdin?.write(`${JSON.stringify(message)}\n`) === false)
      await Promise.race([this.#exited, new Promise((resolve) => stdin.once("drain", resolve))]);
  }

  /** Ends the program and all processes that it started. Idempotent. */
  close(): Promise<void> {
    return (this.#closing ??= this.#end());
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    await this.#tree?.update();
    child.stdin?.end();
    const ends = async (): Promise<boolean> => (await withinTime(this.#exited, this.#clock, graceMs)) === true;
    if (!(await ends())) {
      await this.#tree?.update();
      child.kill("SIGTERM");
      if (!(await ends())) child.kill("SIGKILL");
    }
    await this.#tree?.endRest(this.#clock, new Promise(() => undefined));
    // Processes that started after the last update of the tree are still in the group.
    if (process.platform !== "win32" && child.pid !== undefined)
      attempt(() => process.kill(-(child.pid ?? 0), "SIGKILL"), true);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  }

  #receive(bytes: Buffer): void {
    for (const line of this.#lines.lines(bytes)) this.#read(line);
    if (this.#lines.pending > maxMessageBytes)
      this.#fail(`sent a message of more than ${maxMessageBytes} bytes, the limit`);
  }

  #read(line: Buffer): void {
    if (this.#failure !== undefined) return;
    if (hasTooManyValues(line)) {
      this.#fail(`sent a message of more than ${maxJsonValues} keys and values, the limit`);
      return;
    }
    // Some programs log to stdout: lines that are no messages are ignored.
    const value = parseIfJson(line.toString("utf8"));
    const message = value === undefined ? undefined : attempt(() => parseJSONRPCMessage(value), undefined);
    if (message !== undefined) this.onmessage?.(message);
  }

  #fail(what: string): void {
    this.#failure ??= badSource(`The program ${what}`);
    this.#lines = new LineBlocks();
    this.onerror?.(this.#failure);
    void this.close();
  }
}

function notStarted(program: string, error: unknown): SkillsError {
  const code = systemCode(error);
  const why = code === "ENOENT" ? "it was not found; check its spelling and your PATH" : `it cannot be run (${code})`;
  return new SkillsError("ENDPOINT_UNREACHABLE", `${JSON.stringify(program)} was not started: ${why}.`, {
    cause: error,
  });
}

function ended(code: number | null, signal: NodeJS.Signals | null, stderr: Buffer): SkillsError {
  const last = withoutControls(stderr.toString("utf8")).trim().split("\n").at(-1) ?? "";
  const said = last === "" ? "" : `; the end of what it said: ${cutCodePoints(last, shownCharacters)}`;
  const how = signal === null ? `with the exit code ${code ?? 0}` : `by ${signal}`;
  return new SkillsError("ENDPOINT_UNREACHABLE", `The program ended ${how} before it had answered${said}.`);
}
