/**
 * Bytes by key, up to `limit` of them: beyond that, what was used least recently is dropped. As long as anybody holds bytes that were
 * dropped, they are found again: nobody needs a second copy.
 */
export class SizedCache {
  readonly #limit: number;
  readonly #entries = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly #known = new Map<string, WeakRef<Uint8Array<ArrayBuffer>>>();
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): Uint8Array<ArrayBuffer> | undefined {
    const bytes = this.#known.get(key)?.deref();
    if (bytes === undefined) this.delete(key);
    else this.set(key, bytes);
    return bytes;
  }

  set(key: string, bytes: Uint8Array<ArrayBuffer>): void {
    this.#drop(key);
    this.#known.set(key, new WeakRef(bytes));
    this.#entries.set(key, bytes);
    this.#size += bytes.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#limit || oldest === key) break;
      this.#drop(oldest);
    }
  }

  delete(key: string): void {
    this.#drop(key);
    this.#known.delete(key);
  }

  #drop(key: string): void {
    this.#size -= this.#entries.get(key)?.length ?? 0;
    this.#entries.delete(key);
  }
}
