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

/** Of programs that connect with IPv4, and with an IPv6 socket to the same address. */
const tables = ["/proc/net/tcp", "/proc/net/tcp6"];

function userOfPeer({ remoteAddress, remotePort, localPort }: Socket): number | undefined {
  if (remoteAddress === undefined || remotePort === undefined || localPort === undefined) return undefined;
  for (const table of tables) {
    try {
      const ends = { address: remoteAddress, from: remotePort, to: localPort };
      const user = userInTable(readFileSync(table, "latin1"), ends);
      if (user !== undefined) return user;
    } catch {
      // Not shown to this process, or there is no IPv6.
    }
  }
  return undefined;
}

const loopback = "0100007F";
/** Before an IPv4 address in the table of IPv6. */
const mapped = "0000000000000000FFFF0000";

/**
 * The owner of the connection from an IPv4 address and port to a port of this machine, in the form of /proc/net/tcp or tcp6; undefined if it is
 * not in the table. A program may connect from any address of the machine.
 */
export function userInTable(
  table: string,
  { address, from, to }: { readonly address: string; readonly from: number; readonly to: number },
): number | undefined {
  const toHex = (number: number, digits: number): string => number.toString(16).toUpperCase().padStart(digits, "0");
  const source = address
    .split(".")
    .map((byte) => toHex(Number(byte), 2))
    .reverse()
    .join("");
  const ends = [`${source}:${toHex(from, 4)}`, `${loopback}:${toHex(to, 4)}`] as const;
  const [at = -1] = ["", mapped]
    .map((prefix) => table.indexOf(` ${prefix}${ends[0]} ${prefix}${ends[1]} `))
    .filter((found) => found >= 0);
  if (at < 0) return undefined;
  const user = table.slice(at).trim().split(/\s+/, 7)[6];
  return user !== undefined && /^\d+$/.test(user) ? Number(user) : undefined;
}
