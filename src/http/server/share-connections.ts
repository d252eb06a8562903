import type { Server } from "node:http";
import type { Socket } from "node:net";
import { isLoopbackAddress } from "../../base/network/public-address.ts";
import { canTellPeerUsers, openPeerUsers } from "../../base/network/peer-users.ts";
import { networkOf } from "../admission/limiter.ts";

/** Who is at the other end of a connection: `ownPeer`, or a name that tells others apart. Never rejects. */
export type PeerOf = (socket: Socket) => Promise<string>;

/** This user and root, on this machine. */
export const ownPeer = "own";

/** Connections whose peer is being looked up, beyond the limit. */
const lookedUp = 64;

/** Of connections within this machine the user counts, where the system reveals it; of others the network. */
export function openPeers(users = canTellPeerUsers() ? openPeerUsers() : undefined): PeerOf {
  return async (socket) => {
    const { remoteAddress = "" } = socket;
    if (!isLoopbackAddress(remoteAddress)) return networkOf(remoteAddress);
    if (users === undefined) return ownPeer;
    const user = await users.userOf(socket).catch(() => undefined);
    return user === 0 || user === process.geteuid?.() ? ownPeer : `user ${user ?? "unknown"}`;
  };
}

/**
 * Closes connections of peers that have more than their share, before anything is read from them: half of `most` for one peer, and three
 * quarters for all but this user, who always finds room. Peers are looked up only while more than a quarter is in use.
 */
export function shareConnections(server: Server, most: number, peerOf: PeerOf): void {
  const ofPeer = Math.ceil(most / 2);
  const ofOthers = Math.ceil((most * 3) / 4);
  const open = new Map<Socket, { peer?: string; known?: Promise<void> }>();

  async function admit(socket: Socket): Promise<void> {
    const known = [...open].map(async ([one, entry]) => {
      entry.known ??= peerOf(one).then((peer) => void (entry.peer = peer));
      await entry.known;
    });
    await Promise.all(known);
    const peer = open.get(socket)?.peer;
    const others = [...open.values()].filter((one) => one.peer !== undefined && one.peer !== ownPeer);
    const isOver =
      peer === ownPeer
        ? open.size > most
        : others.length > ofOthers || others.filter((one) => one.peer === peer).length > ofPeer;
    if (isOver) socket.destroy();
  }

  server.maxConnections = most + lookedUp;
  server.on("connection", (socket) => {
    open.set(socket, {});
    socket.once("close", () => open.delete(socket));
    if (open.size > most / 4) void admit(socket);
  });
}
