import { readFileSync } from "node:fs";
import type { Socket } from "node:net";

/** Whether the program at the other end of a loopback connection is another person's. */
export type IsForeign = (socket: Socket) => boolean;

/** On Linux, where the system tells; elsewhere nobody is known to be foreign. Root may do everything anyway. */
export function openPeerCheck(): IsForeign {
  const user = process.getuid?.();
  const known = new WeakMap<Socket, boolean>();
  return (socket) => {
    const before = known.get(socket);
    if (before !== undefined) return before;
    const owner = process.platform === "linux" ? userOfPeer(socket) : undefined;
    const isForeign = owner !== undefined && owner !== 0 && owner !== user;
    known.set(socket, isForeign);
    return isForeign;
  };
}

function userOfPeer({ remotePort, localPort }: Socket): number | undefined {
  if (remotePort === undefined || localPort === undefined) return undefined;
  try {
    return userInTable(readFileSync("/proc/net/tcp", "latin1"), { from: remotePort, to: localPort });
  } catch {
    return undefined; // Not shown to this process.
  }
}

const loopback = "0100007F";

/** The owner of the connection from one port to another, in the form of /proc/net/tcp; undefined if it is not in the table. */
export function userInTable(
  table: string,
  { from, to }: { readonly from: number; readonly to: number },
): number | undefined {
  const toHex = (port: number): string => port.toString(16).toUpperCase().padStart(4, "0");
  const at = table.indexOf(` ${loopback}:${toHex(from)} ${loopback}:${toHex(to)} `);
  if (at < 0) return undefined;
  const user = table.slice(at).trim().split(/\s+/, 7)[6];
  return user !== undefined && /^\d+$/.test(user) ? Number(user) : undefined;
}
