import { setImmediate as nextTurn } from "node:timers/promises";

export const pieceBytes = 64 * 1024;

/** The bytes in pieces, with a turn of the event loop after each. */
export async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    yield bytes.subarray(at, at + pieceBytes);
    await nextTurn();
  }
}
