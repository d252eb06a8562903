import type { AgentProcess } from "../../acp/wrap-command.ts";
import { type Clock, withinTime } from "../../base/clock.ts";
import { createDeferred } from "../../base/promises.ts";
import { requestPermission } from "../../wire/methods.ts";
import { type Peer, connectPeer } from "../peer.ts";
import type { Recorder } from "../transcript.ts";

/** A connection to an agent, as its editor. Everything that the agent sends is recorded, and never causes a throw. */
export interface AgentConnection extends Pick<Peer, "request"> {
  /** Whether `condition` holds now, or after some message that arrives within `ms`. */
  until(condition: () => boolean, ms: number): Promise<boolean>;
  /** Resolves when nothing has arrived for `ms`, or the agent is gone. */
  quiet(ms: number): Promise<void>;
  /** Closes stdin and ends the agent within a time limit. */
  close(): Promise<void>;
}

/** How long an agent has to exit after its stdin was closed, and after SIGTERM. */
const graceMs = 5_000;
/** The maximum number of messages that count as activity: an agent that never stops sending is cut off. */
const quietRounds = 50;

/** `signal` ends the connection early. */
export function connectToAgent(
  agent: AgentProcess,
  recorder: Recorder,
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal | undefined },
): AgentConnection {
  const watchers = new Set<() => void>();
  const peer = connectPeer({
    side: "agent",
    ...{ input: agent.stdout, output: agent.stdin, recorder, clock },
    toId: (n) => n,
    requested: (id, method) => peer.send({ jsonrpc: "2.0", id, ...replyTo(method) }),
    changed() {
      for (const watcher of [...watchers]) watcher();
    },
  });
  agent.stdin.on("error", () => undefined);
  const interrupt = (): void => peer.leave("interrupted");
  signal?.addEventListener("abort", interrupt, { once: true });
  if (signal?.aborted === true) interrupt();
  void agent.exited.then(({ exitCode, signal }) => {
    peer.leave(
      signal === undefined ? `the agent exited with code ${exitCode}` : `the agent was terminated by ${signal}`,
    );
  });

  async function until(condition: () => boolean, ms: number): Promise<boolean> {
    const { promise, resolve } = createDeferred<boolean>();
    const watcher = (): void => {
      if (condition()) resolve(true);
      else if (peer.goneBecause !== undefined) resolve(false);
    };
    watchers.add(watcher);
    watcher();
    const held = await withinTime(promise, clock, ms);
    watchers.delete(watcher);
    return held === true;
  }

  return {
    request: (...given) => peer.request(...given),
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
        if ((await withinTime(agent.exited, clock, graceMs)) !== undefined) break;
        agent.killTree(signal);
      }
      await withinTime(agent.exited, clock, graceMs);
      await agent.endRest(clock, Promise.resolve());
      signal?.removeEventListener("abort", interrupt);
      agent.stdout.on("error", () => undefined).destroy();
    },
  };
}

/** The answer of an editor without files, terminals and users. */
function replyTo(method: string): object {
  return method === requestPermission
    ? { result: { outcome: { outcome: "cancelled" } } }
    : { error: { code: -32601, message: "Method not found" } };
}
