import type { Server } from "node:http";
import type { Socket } from "node:net";
import { canIdentifyPeerUsers, createPeerUsers } from "../../base/network/peer-users.ts";
import { networkOf } from "../../base/network/address.ts";

/** Identifies the peer of a connection: `ownPeer`, or a name that distinguishes others. Never rejects. */
export type PeerOf = (socket: Socket) => Promise<string> | string;

/** The name of the peers on this machine that are this user or root. */
export const ownPeer = "own";

/** The number of a peer's connections that are read at once. Further ones are read in turns, so that other peers need not wait for all. */
const atOnce = 32;

/** The addresses of this machine, IPv4 also mapped into IPv6. A `BlockList` would cost more than all the rest. */
const loopback = /^(?:(?:::ffff:)?127\.|::1$)/i;

/** Identifies connections within this machine by user, if the system reveals it, and others by network. */
export function createPeerIdentifier(users = canIdentifyPeerUsers() ? createPeerUsers() : undefined): PeerOf {
  async function userOf(socket: Socket): Promise<string> {
    const user = await users?.userOf(socket).catch(() => undefined);
    return user === 0 || user === process.geteuid?.() ? ownPeer : `user ${user ?? "unknown"}`;
  }
  return (socket) => {
    const { remoteAddress = "" } = socket;
    if (!loopback.test(remoteAddress)) return networkOf(remoteAddress);
    return users === undefined ? ownPeer : userOf(socket);
  };
}

/**
 * Closes connections of peers that exceed their share, before anything is read from them. One peer has at most half of `max`, and all but
 * this user three quarters, so that this user can always connect. Peers are identified only while more than a quarter is in use.
 * Unidentified connections count for nobody: a limit on them would close those of this user, too.
 */
export function shareConnections(server: Server, max: number, peerOf: PeerOf): void {
  const ofPeer = Math.ceil(max / 2);
  const ofOthers = Math.ceil((max * 3) / 4);
  const start = server.listeners("connection") as ((socket: Socket) => void)[];
  const started = new WeakSet<Socket>();
  /** The open connections, each with its peer, once that is known. */
  const open = new Map<Socket, string | undefined>();
  /** Open connections whose peers were not identified yet. */
  const unknown = new Set<Socket>();
  /** Connections that are read in turns: their peers have many, or are being identified. */
  const waiting: Socket[] = [];
  const byPeer = new Map<string, number>();
  let known = 0;

  function countOf(peer: string): number {
    return byPeer.get(peer) ?? 0;
  }

  function add(peer: string, change: 1 | -1): void {
    known += change;
    byPeer.set(peer, countOf(peer) + change);
    if (countOf(peer) === 0) byPeer.delete(peer);
  }

  function follow(socket: Socket): void {
    if (open.has(socket)) return;
    open.set(socket, undefined);
    // After an error, Node closes the connection.
    socket.on("error", () => undefined).on("close", forget);
  }

  function forget(this: Socket): void {
    const peer = open.get(this);
    if (peer !== undefined) add(peer, -1);
    open.delete(this);
    unknown.delete(this);
  }

  function inspect(socket: Socket): void {
    const peer = peerOf(socket);
    if (typeof peer === "string") admit(socket, peer);
    else {
      follow(socket);
      readInTurn(socket);
      void peer.then((found) => admit(socket, found));
    }
  }

  function admit(socket: Socket, peer: string): void {
    if (socket.destroyed) return;
    const isOver = peer === ownPeer ? known >= max : known - countOf(ownPeer) >= ofOthers || countOf(peer) >= ofPeer;
    if (isOver) {
      socket.destroy();
      return;
    }
    follow(socket);
    open.set(socket, peer);
    add(peer, 1);
    if (peer === ownPeer || countOf(peer) <= atOnce) read(socket);
    else readInTurn(socket);
  }

  function readInTurn(socket: Socket): void {
    if (waiting.push(socket) === 1) setImmediate(readSome);
  }

  /** Reads the latest first, so that a peer's only connection does not wait behind a thousand of another one. */
  function readSome(): void {
    for (const socket of waiting.splice(-atOnce)) read(socket);
    if (waiting.length > 0) setImmediate(readSome);
  }

  function read(socket: Socket): void {
    if (socket.destroyed || started.has(socket)) return;
    started.add(socket);
    for (const listener of start) listener.call(server, socket);
  }

  server.removeAllListeners("connection").on("connection", (socket: Socket) => {
    if (open.size < max / 4) {
      unknown.add(socket);
      follow(socket);
      read(socket);
      return;
    }
    for (const one of unknown) inspect(one);
    unknown.clear();
    inspect(socket);
  });
}
