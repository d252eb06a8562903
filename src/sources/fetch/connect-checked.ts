import type { Socket } from "node:net";
import type { buildConnector } from "undici";
import type { Clock } from "../../base/clock.ts";
import { type Connect, reach, type Resolve } from "../../base/network/reach.ts";
import { type AddressRules, disallowedRequest } from "./address-rules.ts";

export interface CheckedConnection {
  readonly rules: AddressRules;
  readonly resolve: Resolve;
  readonly connect: Connect;
  readonly clock: Clock;
  /** Connects TLS on a socket. */
  readonly secure: buildConnector.connector;
  /** Ends all attempts. */
  readonly signal: AbortSignal;
}

/**
 * Connects as undici asks, to judged addresses only. A URL with an address comes here too: undici's own `lookup` is not asked about those.
 */
export function connectChecked(options: CheckedConnection): buildConnector.connector {
  const { rules, secure, signal } = options;
  const open = async (wanted: buildConnector.Options): Promise<Socket> => {
    const { protocol, port } = wanted;
    const host = wanted.hostname.includes(":") ? `[${wanted.hostname}]` : wanted.hostname;
    const target = rules.targetOf(new URL(`${protocol}//${host}:${port}`));
    const reached = await reach(target, { ...options, judge: (...asked) => rules.judge(...asked) }, signal);
    if (reached.type !== "connected") throw disallowedRequest(reached.why);
    return reached.socket;
  };
  return (wanted, callback) => {
    open(wanted).then(
      (socket) => {
        socket.setNoDelay(true);
        if (wanted.protocol !== "https:") {
          callback(null, socket);
          return;
        }
        // Undici does not know a socket before its handshake is done.
        const giveUp = (): void => void socket.destroy();
        signal.addEventListener("abort", giveUp);
        secure({ ...wanted, httpSocket: socket }, (...result) => {
          signal.removeEventListener("abort", giveUp);
          callback(...result);
        });
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
}
