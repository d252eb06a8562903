import type { RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import { refuseRequest } from "../serve-context.ts";

/** Requests that a client may send on one connection before it has read their answers; one that never reads keeps no more places. */
const mostUnread = 16;

/** Bytes a second that a client reads at least. */
const leastRead = 1_024;

/** What the system has taken of a connection. Node's public count grows only at the end of a write, which may be a whole artifact. */
function takenOf(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { bytesWritten?: number; writeQueueSize?: number } | null };
  return (handle?.bytesWritten ?? 0) - (handle?.writeQueueSize ?? 0);
}

/**
 * Answers the requests of a server. A connection whose client reads less than 1 KiB/s of an answer for `unreadMs` is closed, and one that is idle.
 * Node tells only the answer that is being sent that its client has left: those queued behind it on the connection are told here.
 */
export function followAnswers(server: Server, answer: RequestListener, unreadMs: number, clock: Clock): void {
  const open = new Map<Socket, Set<ServerResponse>>();
  /** Of connections that had unread bytes when it was last looked. */
  let taken = new Map<Socket, number>();
  let stop: (() => void) | undefined;

  function closeSlow(): void {
    const before = taken;
    taken = new Map();
    for (const socket of open.keys()) {
      if (socket.writableLength === 0) continue;
      const now = takenOf(socket);
      if (now - (before.get(socket) ?? -Infinity) < (leastRead * unreadMs) / 1_000) socket.destroy();
      else taken.set(socket, now);
    }
    stop = open.size > 0 ? clock.after(unreadMs, closeSlow) : undefined;
  }
  server.once("close", () => stop?.());

  function openOn(socket: Socket): Set<ServerResponse> {
    const known = open.get(socket);
    if (known !== undefined) return known;
    const answers = new Set<ServerResponse>();
    open.set(socket, answers);
    stop ??= clock.after(unreadMs, closeSlow);
    socket.once("close", () => {
      open.delete(socket);
      if (open.size === 0) {
        stop?.();
        stop = undefined;
      }
      for (const response of answers) if (response.socket === null) response.destroy().emit("close");
    });
    return answers;
  }

  server.on("request", (request, response) => {
    const answers = openOn(request.socket);
    if (answers.size >= mostUnread) {
      const message = `Read the answers to earlier requests first: a connection has at most ${mostUnread} at a time.`;
      request.resume();
      refuseRequest(response, request.url ?? "", {
        status: 429,
        code: "RATE_LIMITED",
        message,
        headers: { "retry-after": "1" },
      });
    } else answer(request, response);
    answers.add(response);
    response.once("close", () => answers.delete(response));
  });
  server.timeout = unreadMs;
  server.on("timeout", (socket: Socket) => {
    const isAnswering = (open.get(socket)?.size ?? 0) > 0;
    if (!isAnswering || socket.writableLength > 0) socket.destroy();
  });
}
