/** Bytes by key, up to `limit` of them: beyond that, what was used least recently is dropped. */
export class SizedCache {
  readonly #limit: number;
  readonly #entries = new Map<string, Uint8Array<ArrayBuffer>>();
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): Uint8Array<ArrayBuffer> | undefined {
    const bytes = this.#entries.get(key);
    if (bytes === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, bytes);
    return bytes;
  }

  set(key: string, bytes: Uint8Array<ArrayBuffer>): void {
    this.delete(key);
    this.#entries.set(key, bytes);
    this.#size += bytes.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#limit || oldest === key) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#size -= this.#entries.get(key)?.length ?? 0;
    this.#entries.delete(key);
  }
}
