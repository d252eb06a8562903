import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { endianness } from "node:os";

/** One end of a connection, with the field names of Node's sockets. */
export interface SocketEndpoints {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

export interface PeerUsers {
  /** The user of the process at the other end of a loopback connection; undefined if unknown. */
  readonly userOf: (connection: SocketEndpoints) => Promise<number | undefined>;
}

const [tableOf4, tableOf6] = ["/proc/net/tcp", "/proc/net/tcp6"] as const;

/** The number of attempts: tables are read in chunks, and a row may move between them. */
const attempts = 3;

/** Whether the system reveals the user of a loopback peer; only Linux does. */
export function canIdentifyPeerUsers(platform: NodeJS.Platform = process.platform): boolean {
  return platform === "linux" && existsSync(tableOf4);
}

/** Reads the kernel's connection tables, once for concurrent callers. */
export function createPeerUsers(read: () => Promise<string> = readTables): PeerUsers {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<UserTable> | undefined;

  /** A table whose read started after this call. */
  function freshTable(): Promise<UserTable> {
    next ??= running.then(() => {
      next = undefined;
      const reading = read().then(readUserTable);
      running = reading.catch(() => undefined);
      return reading;
    });
    return next;
  }

  return {
    async userOf(connection) {
      for (let attempt = 0; attempt < attempts; attempt++) {
        const user = findPeerUser(await freshTable(), connection);
        if (user !== undefined) return user;
      }
      return undefined;
    },
  };
}

async function readTables(): Promise<string> {
  const [four, six] = await Promise.all([
    readFile(tableOf4, "latin1"),
    readFile(tableOf6, "latin1").catch(() => ""), // No IPv6.
  ]);
  return four + six;
}

/** Users by the two ends of their connection, as the kernel's tables write them. */
export type UserTable = ReadonlyMap<string, number>;

/** A row of an established connection with an inode: the table shows a socket that its process has closed as root's. */
const row = /^ *\d+: (\S+ \S+) 01 \S+ \S+ \S+ +(\d+) +\d+ [1-9]\d* /gm;

/** The users in the kernel's tables. Pure. */
export function readUserTable(text: string): UserTable {
  return new Map(Array.from(text.matchAll(row), ([, ends = "", user]) => [ends, Number(user)]));
}

/** The user of the other end's socket. Pure. */
export function findPeerUser(table: UserTable, connection: SocketEndpoints): number | undefined {
  const { remoteAddress, remotePort = 0, localAddress, localPort = 0 } = connection;
  const ours = toHex(localAddress);
  return toHex(remoteAddress)
    .map((theirs, form) => table.get(`${theirs}:${toPort(remotePort)} ${ours[form]}:${toPort(localPort)}`))
    .find((user) => user !== undefined);
}

/** A loopback address as each of the two tables would write it; the IPv6 table may contain an IPv4 address as a mapped one. */
function toHex(address = ""): readonly string[] {
  if (address === "::1") return [`${"0".repeat(24)}${toWord([0, 0, 0, 1])}`];
  const bytes = address
    .replace(/^::ffff:/i, "")
    .split(".")
    .map(Number);
  if (bytes.length !== 4 || !bytes.every((byte) => byte >= 0 && byte <= 255)) return [];
  return [toWord(bytes), `${"0".repeat(16)}${toWord([0, 0, 255, 255])}${toWord(bytes)}`];
}

/** Writes a word in the byte order of the machine. */
function toWord(bytes: readonly number[]): string {
  const ordered = endianness() === "LE" ? bytes.toReversed() : bytes;
  return ordered
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("")
    .toUpperCase();
}

function toPort(port: number): string {
  return port.toString(16).padStart(4, "0").toUpperCase();
}
