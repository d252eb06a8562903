import { createHash } from "node:crypto";

/** How many rows there are, and a digest of all of them in their order. */
export interface ChainEnd {
  readonly rows: number;
  /** SHA-256 in hexadecimal. */
  readonly digest: string;
}

export const chainStart: ChainEnd = { rows: 0, digest: "0".repeat(64) };

/** The end after one more row: its bytes without the line end. */
export function chained({ rows, digest }: ChainEnd, line: Uint8Array): ChainEnd {
  return { rows: rows + 1, digest: createHash("sha256").update(`${digest}\n`).update(line).digest("hex") };
}

/** The whole lines of bytes, without their line ends; what follows the last line end is none. */
export function* wholeLines(bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let start = 0; ;) {
    const end = bytes.indexOf(0x0a, start);
    if (end < 0) return;
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}
