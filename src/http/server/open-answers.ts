import type { RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { refuseRequest } from "../answer/refuse-request.ts";

/** Requests that a client may send on one connection before it has read their answers; one that never reads keeps no more places. */
const mostUnread = 16;

/**
 * Answers the requests of a server. A connection whose client reads nothing of an answer for `unreadMs` is closed, and one that is idle.
 * Node tells only the answer that is being sent that its client has left: those queued behind it on the connection are told here.
 */
export function followAnswers(server: Server, answer: RequestListener, unreadMs: number): void {
  const open = new WeakMap<Socket, Set<ServerResponse>>();

  function openOn(socket: Socket): Set<ServerResponse> {
    const known = open.get(socket);
    if (known !== undefined) return known;
    const answers = new Set<ServerResponse>();
    open.set(socket, answers);
    socket.once("close", () => {
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
