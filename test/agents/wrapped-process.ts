import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { type AnyMessage, type Stream, ndJsonStream } from "@agentclientprotocol/sdk";
import type { Playground } from "./playground.ts";
import { prepareHome, type RealAgent } from "./real-agents.ts";

/** The wrapper around a real agent, as the process an editor would start. */
export interface WrappedProcess {
  readonly id: number | undefined;
  /** The stream for the editor's client. */
  readonly stream: Stream;
  /** Every message to the editor, raw, in order of arrival. */
  readonly received: readonly AnyMessage[];
  /** Call when a condition may have changed. */
  lookAgain(): void;
  /** Resolves when the condition is true, checking after each message; throws with diagnostics after a timeout. */
  until(expectation: string, condition: () => boolean): Promise<void>;
  /** Everything on stderr so far. */
  diagnostics(): string;
  /** The exit code or signal. */
  readonly exited: Promise<number | string>;
  /** Closes stdin, as editors do, and waits for the end. */
  close(): Promise<number | string>;
}

export const wrapper = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** The timeout for an expected action of a real agent; Claude checks its skills every few seconds. */
const patience = 15_000;

export async function startWrapped(
  agent: RealAgent,
  { home, project, explicitSkills, temporary }: Playground,
  { modelUrl, options = [] }: { modelUrl: string; options?: readonly string[] },
): Promise<WrappedProcess> {
  await prepareHome(agent, { modelUrl, home });
  const args = [wrapper, "--skills", explicitSkills, ...options, "--", ...(await agent.command())];
  const own = { PATH: process.env["PATH"], SHELL: "/bin/sh", HOME: home, TMPDIR: temporary };
  const child = spawn(process.execPath, args, {
    cwd: project,
    env: { ...own, ...agent.environment({ modelUrl, home }) },
  });
  const exited = (once(child, "exit") as Promise<[number | null, string | null]>).then(
    ([code, signal]) => code ?? signal ?? "unknown",
  );
  let diagnostics = "";
  child.stderr.on("data", (chunk: Buffer) => (diagnostics += chunk.toString("utf8")));

  const received: AnyMessage[] = [];
  const watchers = new Set<() => void>();
  const lookAgain = () => {
    for (const watcher of watchers) watcher();
  };
  const { readable, writable } = ndJsonStream(
    Writable.toWeb(child.stdin),
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
  );
  const recorder = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      received.push(message);
      controller.enqueue(message);
      lookAgain();
    },
  });
  return {
    id: child.pid,
    stream: { readable: readable.pipeThrough(recorder), writable },
    received,
    lookAgain,
    until: (expectation, condition) =>
      new Promise((resolve, reject) => {
        const finish = (error?: Error) => {
          clearTimeout(timer);
          watchers.delete(look);
          if (error) reject(error);
          else resolve();
        };
        const look = () => {
          if (condition()) finish();
        };
        const timer = setTimeout(() => {
          const last = received.slice(-5).map((message) => JSON.stringify(message).slice(0, 400));
          finish(new Error([`not seen: ${expectation}`, ...last, diagnostics.slice(-2000)].join("\n")));
        }, patience);
        watchers.add(look);
        look();
      }),
    diagnostics: () => diagnostics,
    exited,
    async close() {
      child.stdin.end();
      return await exited;
    },
  };
}
