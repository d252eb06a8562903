import type { Json, RunEnd, RunError } from "../../sandbox/sandbox.ts";
import { maskText, openByteMask } from "../../secrets/mask-secrets.ts";

/** Hides the secrets of one run in everything that leaves it (CONTRACT C-5.1). */
export interface Mask {
  text(text: string): string;
  json(value: Json): Json;
  error(error: RunError): RunError;
  end(end: RunEnd): RunEnd;
  /** For one stream of bytes; a secret may lie across two of its pieces. */
  stream(): { push(bytes: Uint8Array): Uint8Array; end(): Uint8Array };
  iterable(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}
