import { createHash } from "node:crypto";
import type { Steps } from "../../../base/promises.ts";
import type { GitObject } from "./git-object.ts";

/** Objects as one pack, in parts that are made when they are sent. */
export interface GitPack {
  readonly size: number;
  parts(): Generator<Uint8Array<ArrayBuffer>, void>;
}

const headerBytes = 12;
const trailerBytes = 20;
/** Small objects are sent together. */
const partBytes = 64 * 1024;

/** A pack (version 2, without deltas) of objects that have different ids. */
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
