import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { deflate, deflateSync } from "node:zlib";
import { byCodePoint } from "../../../base/text/code-points.ts";
import type { Steps } from "../../../base/promises.ts";
import type { SkillFile } from "../../../sources/reader.ts";

/** An object of a git repository, in the form of a pack. */
export interface GitObject {
  /** The SHA-1 of the object, in lower-case hexadecimal. */
  readonly id: string;
  readonly packed: Uint8Array;
}

/** An entry of a directory. */
interface TreeEntry {
  readonly name: string;
  readonly mode: keyof typeof modes;
  readonly id: string;
}

const modes = { file: "100644", program: "100755", directory: "40000" } as const;
/** The numbers of the types in packs. */
const types = { commit: 1, tree: 2, blob: 3 } as const;
/** The maximum number of bytes that are compressed on this thread. */
const maxSync = 32 * 1024;
/** The settings for small objects, which are most: a compressor's usual 256 KiB of memory are freed only later. */
const frugal = { windowBits: 12, memLevel: 4, chunkSize: 4 * 1024 };
const compress = promisify(deflate);

/** Creates the object of some bytes. The id depends only on type and bytes; the packed form also on the version of zlib. */
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

/** Formats a directory. Git orders entries by their bytes, directories as if their names ended with a slash. */
function toTree(entries: readonly TreeEntry[]): Uint8Array {
  const key = ({ name, mode }: TreeEntry): string => (mode === "directory" ? `${name}/` : name);
  const sorted = [...entries].sort((one, other) => byCodePoint(key(one), key(other)));
  return Buffer.concat(
    sorted.flatMap(({ name, mode, id }) => [Buffer.from(`${modes[mode]} ${name}\0`), Buffer.from(id, "hex")]),
  );
}

/** Formats a commit without parents; the same for the same tree. */
export function toCommit(tree: string, message: string): Uint8Array {
  const who = "acp-skills <acp-skills@localhost> 0 +0000";
  return Buffer.from(`tree ${tree}\nauthor ${who}\ncommitter ${who}\n\n${message}\n`);
}

/** Formats the type and size: 4 bits of the size beside the type, then 7 bits per byte, least significant first. */
function entryHeader(type: number, size: number): Uint8Array {
  const bytes = [(type << 4) | (size & 0x0f)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(rest & 0x7f);
  }
  return Uint8Array.from(bytes);
}

/** A directory of a repository, with everything below it. */
export interface GitTree {
  readonly id: string;
  /** All objects of the tree, including its own. */
  readonly objects: readonly GitObject[];
  /** Bytes of the packed objects. */
  readonly size: number;
}

/** Creates the tree of some files, and of existing trees by path. */
export function* toGitTree(
  files: readonly SkillFile[],
  trees: readonly { readonly path: string; readonly id: string }[] = [],
): Steps<GitTree> {
  const objects: GitObject[] = [];
  const root: Directory = { entries: [], directories: new Map() };
  for (const { path, bytes, executable } of files) {
    const object = yield* toGitObject("blob", bytes);
    objects.push(object);
    addEntry(root, path, { mode: executable ? "program" : "file", id: object.id });
  }
  for (const { path, id } of trees) addEntry(root, path, { mode: "directory", id });
  const id = yield* write(root, objects);
  return { id, objects, size: objects.reduce((sum, { packed }) => sum + packed.length, 0) };
}

interface Directory {
  readonly entries: TreeEntry[];
  readonly directories: Map<string, Directory>;
}

function addEntry(root: Directory, path: string, entry: Omit<TreeEntry, "name">): void {
  const names = path.split("/");
  const name = names.pop() ?? "";
  let at = root;
  for (const above of names) {
    let next = at.directories.get(above);
    if (next === undefined) at.directories.set(above, (next = { entries: [], directories: new Map() }));
    at = next;
  }
  at.entries.push({ name, ...entry });
}

function* write({ entries, directories }: Directory, objects: GitObject[]): Steps<string> {
  const all = [...entries];
  for (const [name, directory] of directories)
    all.push({ name, mode: "directory", id: yield* write(directory, objects) });
  const tree = yield* toGitObject("tree", toTree(all));
  objects.push(tree);
  return tree.id;
}

/** A pack of objects, in chunks that are made when they are sent. */
export interface GitPack {
  readonly size: number;
  parts(): Generator<Uint8Array<ArrayBuffer>, void>;
}

const headerBytes = 12;
const trailerBytes = 20;
/** The size from which a chunk is sent; small objects share one. */
const partBytes = 64 * 1024;

/** Creates a pack (version 2, without deltas) of objects with different ids. */
export function* toPack(objects: readonly GitObject[]): Steps<GitPack> {
  const header = Buffer.alloc(headerBytes);
  header.write("PACK");
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(objects.length, 8);
  const digest = createHash("sha1").update(header);
  let size = headerBytes + trailerBytes;
  for (const { packed } of objects) {
    digest.update(packed);
    size += packed.length;
    yield;
  }
  const trailer = digest.digest();
  return {
    size,
    *parts() {
      let part: Uint8Array[] = [header];
      let length = headerBytes;
      for (const { packed } of objects) {
        part.push(packed);
        length += packed.length;
        if (length < partBytes) continue;
        yield new Uint8Array(Buffer.concat(part, length));
        part = [];
        length = 0;
      }
      yield new Uint8Array(Buffer.concat([...part, trailer]));
    },
  };
}
