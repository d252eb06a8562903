import type { Readable, Writable } from "node:stream";
import type { AgentProcess } from "../../acp/wrap-command.ts";
import { type Clock, withinTime } from "../../base/clock.ts";
import { createDeferred } from "../../base/promises.ts";
import { fieldsOf } from "../../client/json.ts";
import { requestPermission } from "../../wire/methods.ts";
import { readLines } from "../read-lines.ts";
import type { Recorder } from "../transcript.ts";

/** How a request ended: with a result, an error, or not at all. */
export type AgentResponse = { readonly result: unknown } | { readonly error: unknown } | { readonly failed: string };

/** A connection to an agent, as its editor. Whatever the agent sends is recorded, and never throws. */
export interface AgentConnection {
  request(method: string, params: object, ms: number): Promise<AgentResponse>;
  /** Whether `condition` holds at some message that arrives within `ms`, or holds already. */
  until(condition: () => boolean, ms: number): Promise<boolean>;
  /** Resolves when nothing has arrived for `ms`, or the agent is gone. */
  quiet(ms: number): Promise<void>;
  /** Closes stdin and ends the agent within a time limit. */
  close(): Promise<void>;
}

/** How long an agent has to exit after its stdin was closed, and after SIGTERM. */
const gracePeriod = 5_000;
/** The most messages that count as activity: an agent that never stops talking is cut off. */
const quietRounds = 50;

/** `signal` ends the connection early. */
export function connectToAgent(
  agent: AgentProcess,
  recorder: Recorder,
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal | undefined },
): AgentConnection {
  const open = new Map<unknown, (answer: AgentResponse) => void>();
  const watchers = new Set<() => void>();
  const gone = createDeferred<string>();
  let lastId = 0;
  let goneBecause: string | undefined;

  function leave(reason: string): void {
    goneBecause ??= reason;
    gone.resolve(reason);
    for (const respond of open.values()) respond({ failed: reason });
    open.clear();
    notifyWatchers();
  }
  function notifyWatchers(): void {
    for (const watcher of [...watchers]) watcher();
  }
  function send(message: object): void {
    const written = JSON.stringify(message);
    recorder.add("client", written);
    write(agent.stdin, `${written}\n`);
  }
  function receive(message: unknown): void {
    const { id, method, result, error } = fieldsOf(message) ?? {};
    if (typeof method === "string") {
      if (id !== undefined) send({ jsonrpc: "2.0", id, ...replyTo(method) });
      return;
    }
    const respond = open.get(id);
    open.delete(id);
    respond?.(error === undefined ? { result } : { error });
  }

  agent.stdin.on("error", () => undefined);
  const interrupt = (): void => {
    leave("interrupted");
  };
  signal?.addEventListener("abort", interrupt, { once: true });
  if (signal?.aborted === true) interrupt();
  readLines(agent.stdout, {
    line(written) {
      const fault = recorder.add("agent", written);
      if (fault !== undefined) {
        leave(fault);
        return;
      }
      const { message } = recorder.last() ?? {};
      for (const one of Array.isArray(message) ? (message as unknown[]) : [message]) receive(one);
      notifyWatchers();
    },
    ended: (reason) => {
      leave(reason ?? "the agent closed its stdout");
    },
  });
  void agent.exited.then(({ exitCode, signal }) => {
    leave(signal === undefined ? `the agent exited with code ${exitCode}` : `the agent was terminated by ${signal}`);
  });

  async function until(condition: () => boolean, ms: number): Promise<boolean> {
    const { promise, resolve } = createDeferred<boolean>();
    const watcher = (): void => {
      if (condition()) resolve(true);
      else if (goneBecause !== undefined) resolve(false);
    };
    watchers.add(watcher);
    watcher();
    const held = await withinTime(promise, clock, ms);
    watchers.delete(watcher);
    return held === true;
  }

  return {
    async request(method, params, ms) {
      if (goneBecause !== undefined) return { failed: goneBecause };
      const id = ++lastId;
      const { promise, resolve } = createDeferred<AgentResponse>();
      open.set(id, resolve);
      send({ jsonrpc: "2.0", id, method, params });
      const answer = await withinTime(promise, clock, ms);
      open.delete(id);
      return answer ?? { failed: `it was not answered within ${Math.round(ms / 1_000)} s` };
    },
    until,
    async quiet(ms) {
      for (let round = 0; round < quietRounds; round++) {
        const before = recorder.entries.length;
        if (!(await until(() => recorder.entries.length > before, ms))) return;
      }
    },
    async close() {
      agent.updateTree();
      agent.stdin.end();
      for (const signal of ["SIGTERM", "SIGKILL"] as const) {
        if ((await withinTime(agent.exited, clock, gracePeriod)) !== undefined) break;
        agent.killTree(signal);
      }
      await withinTime(agent.exited, clock, gracePeriod);
      await agent.endRest(clock, Promise.resolve());
      signal?.removeEventListener("abort", interrupt);
      destroy(agent.stdout);
    },
  };
}

/** An editor without files, terminals and people. */
function replyTo(method: string): object {
  return method === requestPermission
    ? { result: { outcome: { outcome: "cancelled" } } }
    : { error: { code: -32601, message: "Method not found" } };
}

function write(sink: Writable, text: string): void {
  if (!sink.destroyed && !sink.writableEnded) sink.write(text);
}

function destroy(source: Readable): void {
  source.on("error", () => undefined).destroy();
}
