import { Peer, type Received, type Stdio } from "./json-rpc-peer.ts";

/** A request under way on the next hop, so that its cancellation can follow it there. */
interface Forwarded {
  readonly peer: Peer;
  readonly id: number | string;
}

/**
 * The conductor of the proxy-chains RFD: it starts nothing, but connects an editor, proxies and an agent. Every hop has ids of its own.
 * The prefix is that of the methods, `_` for the Rust SDK before 3.0.
 */
export function connectChain(editor: Stdio, proxies: readonly Stdio[], agent: Stdio, prefix: "" | "_" = ""): void {
  const initialize = `${prefix}proxy/initialize`;
  const successor = `${prefix}proxy/successor`;

  /** One end: passes on what it receives, and its cancellations by the id that the request has on the next hop. */
  function open(stdio: Stdio, route: (received: Received) => readonly [Peer, string, unknown]): Peer {
    const forwarded = new Map<unknown, Forwarded>();
    return new Peer(stdio, (received) => {
      const { id, method, params, respond } = received;
      if (method === "$/cancel_request") {
        const request = forwarded.get((params as { requestId: unknown }).requestId);
        request?.peer.cancel(request.id);
        return;
      }
      const [peer, name, content] = route(received);
      if (respond === undefined) peer.notify(name, content);
      else {
        const request = peer.request(name, content, (reply) => {
          forwarded.delete(id);
          respond(reply);
        });
        forwarded.set(id, { peer, id: request });
      }
    });
  }

  const ends: Peer[] = [];
  const end = (index: number): Peer => {
    const peer = ends[index];
    if (peer === undefined) throw new Error(`There is no component ${index}.`);
    return peer;
  };
  const last = proxies.length + 1;
  const toComponent = (index: number, method: string, params: unknown): readonly [Peer, string, unknown] => [
    end(index),
    method === "initialize" && index < last ? initialize : method,
    params,
  ];
  ends.push(open(editor, ({ method, params }) => toComponent(1, method, params)));
  for (const [index, stdio] of [...proxies, agent].entries()) {
    const own = index + 1;
    const route = ({ method, params }: Received): readonly [Peer, string, unknown] => {
      if (method === successor) {
        const inner = params as { readonly method: string; readonly params?: unknown };
        return toComponent(own + 1, inner.method, inner.params ?? undefined);
      }
      return own === 1 ? [end(0), method, params] : [end(own - 1), successor, { method, params }];
    };
    ends.push(open(stdio, route));
  }
}

/** A proxy that changes nothing, or what `change` changes of the messages of the agent. */
export function runOtherProxy(
  stdio: Stdio,
  change: (method: string, params: unknown) => unknown = (_method, params) => params,
): void {
  const forwarded = new Map<unknown, number>();
  const peer: Peer = new Peer(stdio, ({ id, method, params, respond }) => {
    if (method === "$/cancel_request") {
      const request = forwarded.get((params as { requestId: unknown }).requestId);
      if (request !== undefined) peer.cancel(request);
      return;
    }
    const inner = params as { readonly method: string; readonly params?: unknown };
    const [name, content]: readonly [string, unknown] =
      method === "proxy/successor"
        ? [inner.method, change(inner.method, inner.params)]
        : ["proxy/successor", { method: method === "proxy/initialize" ? "initialize" : method, params }];
    if (respond === undefined) peer.notify(name, content);
    else forwarded.set(id, peer.request(name, content, respond));
  });
}
