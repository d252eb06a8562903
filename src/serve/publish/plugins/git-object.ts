import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { deflate, deflateSync } from "node:zlib";
import { byCodePoint } from "../../../base/text/code-points.ts";
import type { Steps } from "../../../base/promises.ts";

/** An object of a git repository, as a pack has it. */
export interface GitObject {
  /** Lower-case hexadecimal. */
  readonly id: string;
  readonly packed: Uint8Array;
}

/** An entry of a directory. */
export interface TreeEntry {
  readonly name: string;
  readonly mode: keyof typeof modes;
  readonly id: string;
}

const modes = { file: "100644", program: "100755", directory: "40000" } as const;
/** As packs number them. */
const types = { commit: 1, tree: 2, blob: 3 } as const;
/** More is compressed outside this thread. */
const maxSync = 32 * 1024;
/** For most objects, which are small: the usual memory of a compressor, 256 KiB, is freed only later. */
const frugal = { windowBits: 12, memLevel: 4, chunkSize: 4 * 1024 };
const compress = promisify(deflate);

/** The object of some bytes. Bytes, and so the id, depend on nothing else; what is packed also on the version of zlib. */
export function* toGitObject(type: keyof typeof types, content: Uint8Array): Steps<GitObject> {
  const id = createHash("sha1").update(`${type} ${content.length}\0`).update(content).digest("hex");
  let body: Uint8Array | undefined;
  if (content.length <= maxSync) {
    body = deflateSync(content, content.length <= frugal.chunkSize ? frugal : {});
    yield;
  } else {
    yield compress(content).then((compressed) => void (body = compressed));
  }
  return { id, packed: Buffer.concat([entryHeader(types[type], content.length), body ?? new Uint8Array()]) };
}

/** The content of a directory. Git orders its entries by their bytes, directories as if their names ended with a slash. */
export function toTree(entries: readonly TreeEntry[]): Uint8Array {
  const key = ({ name, mode }: TreeEntry): string => (mode === "directory" ? `${name}/` : name);
  const sorted = [...entries].sort((one, other) => byCodePoint(key(one), key(other)));
  return Buffer.concat(
    sorted.flatMap(({ name, mode, id }) => [Buffer.from(`${modes[mode]} ${name}\0`), Buffer.from(id, "hex")]),
  );
}

/** The content of a commit without parents; the same for the same tree. */
export function toCommit(tree: string, message: string): Uint8Array {
  const who = "acp-skills <acp-skills@localhost> 0 +0000";
  return Buffer.from(`tree ${tree}\nauthor ${who}\ncommitter ${who}\n\n${message}\n`);
}

/** Type and size: 4 bits of the size beside the type, then 7 bits a byte, least significant first. */
function entryHeader(type: number, size: number): Uint8Array {
  const bytes = [(type << 4) | (size & 0x0f)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(rest & 0x7f);
  }
  return Uint8Array.from(bytes);
}
