import { flushPacket, packetLine, readPackets } from "../../../wire/packet-lines.ts";

/** The part of git's protocol (version 0, over HTTP) that reads a repository of one commit without parents. Pure. */

/** A full pack of the commit is a valid answer whatever the client has, and how deep it wants it. */
const capabilities = `shallow no-progress allow-tip-sha1-in-want allow-reachable-sha1-in-want filter symref=HEAD:refs/heads/main agent=acp-skills`;

/** The answer to `info/refs?service=git-upload-pack`. */
export function toAdvertisement(commit: string): Uint8Array<ArrayBuffer> {
  return toBytes(
    packetLine("# service=git-upload-pack\n"),
    flushPacket,
    packetLine(`${commit} HEAD\0${capabilities}\n`),
    packetLine(`${commit} refs/heads/main\n`),
    flushPacket,
  );
}

/** What a client asks for. */
export interface PackRequest {
  /** Ids of commits. */
  readonly wants: readonly [string, ...string[]];
  readonly isShallow: boolean;
  readonly hasCommits: boolean;
  /** It sends nothing more: the pack is to follow. */
  readonly isDone: boolean;
}

/** Reads a request body; undefined if it is none. */
export function readPackRequest(body: Buffer): PackRequest | undefined {
  const wants: string[] = [];
  let isShallow = false;
  let hasCommits = false;
  let isDone = false;
  for (const packet of readPackets(body) ?? []) {
    const [verb = "", value = ""] = packet.trimEnd().split(" ", 2);
    if (verb === "want") wants.push(value);
    if (verb === "deepen") isShallow = true;
    if (verb === "have") hasCommits = true;
    if (verb === "done") isDone = true;
  }
  const [first, ...rest] = wants;
  return first === undefined ? undefined : { wants: [first, ...rest], isShallow, hasCommits, isDone };
}

/** What precedes the pack, if the request is done; else the whole answer, after which the client asks again. */
export function toPackStart({ isShallow, hasCommits, isDone }: PackRequest): Uint8Array<ArrayBuffer> {
  // The commit has no parents, so that no depth cuts off anything.
  return toBytes(isShallow ? flushPacket : "", isDone || hasCommits ? packetLine("NAK\n") : "");
}

/** The answer to a request for a commit that is not here. */
export function toNotOurs(want: string): Uint8Array<ArrayBuffer> {
  return toBytes(packetLine(`ERR upload-pack: not our ref ${want.slice(0, 64)}\n`));
}

function toBytes(...packets: readonly string[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(packets.join("")));
}
