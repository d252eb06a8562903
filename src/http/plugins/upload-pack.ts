/** The part of git's protocol (version 0, over HTTP) that reads a repository of one commit without parents. Pure. */

const flush = Buffer.from("0000");
/** A full pack of the commit is a valid answer whatever the client has, and how deep it wants it. */
const capabilities = `shallow no-progress allow-tip-sha1-in-want allow-reachable-sha1-in-want filter symref=HEAD:refs/heads/main agent=acp-skills`;

/** The answer to `info/refs?service=git-upload-pack`. */
export function toAdvertisement(commit: string): Uint8Array<ArrayBuffer> {
  return join([
    line("# service=git-upload-pack\n"),
    flush,
    line(`${commit} HEAD\0${capabilities}\n`),
    line(`${commit} refs/heads/main\n`),
    flush,
  ]);
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
  for (let at = 0; at < body.length;) {
    const digits = body.toString("latin1", at, at + 4);
    if (!/^[0-9a-f]{4}$/i.test(digits)) return undefined;
    const length = Number.parseInt(digits, 16);
    if (length !== 0 && (length < 4 || at + length > body.length)) return undefined;
    const [verb = "", value = ""] = body
      .toString("latin1", at + 4, at + Math.max(length, 4))
      .trimEnd()
      .split(" ", 2);
    if (verb === "want") wants.push(value);
    if (verb === "deepen") isShallow = true;
    if (verb === "have") hasCommits = true;
    if (verb === "done") isDone = true;
    at += Math.max(length, 4);
  }
  const [first, ...rest] = wants;
  return first === undefined ? undefined : { wants: [first, ...rest], isShallow, hasCommits, isDone };
}

/** What precedes the pack, if the request is done; else the whole answer, after which the client asks again. */
export function toPackStart({ isShallow, hasCommits, isDone }: PackRequest): Uint8Array<ArrayBuffer> {
  // The commit has no parents, so that no depth cuts off anything.
  return join([...(isShallow ? [flush] : []), ...(isDone || hasCommits ? [line("NAK\n")] : [])]);
}

/** The answer to a request for a commit that is not here. */
export function toNotOurs(want: string): Uint8Array<ArrayBuffer> {
  return join([line(`ERR upload-pack: not our ref ${want.slice(0, 64)}\n`)]);
}

function line(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, "0")), bytes]);
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.concat(parts));
}
