/** Bytes that arrive in pieces, taken in other pieces. */
export class ByteQueue {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Exactly `size` bytes in a buffer of their own; undefined if there are fewer. The caller has limited the size. */
  async take(size: number): Promise<Buffer | undefined> {
    // Filled as they arrive: joining many pieces at the end would be one long turn.
    const bytes = Buffer.allocUnsafeSlow(size);
    let at = 0;
    const complete = await this.#pass(size, (piece) => {
      bytes.set(piece, at);
      at += piece.length;
    });
    return complete ? bytes : undefined;
  }

  /** False if there are fewer than `size` bytes. */
  async skip(size: number): Promise<boolean> {
    return await this.#pass(size, () => undefined);
  }

  /** The next piece, of whatever size; undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    if (this.#rest.length === 0 && !(await this.#fill())) return undefined;
    const piece = this.#rest;
    this.#rest = new Uint8Array();
    return piece;
  }

  /** Stops what produces the bytes. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #pass(size: number, take: (piece: Uint8Array) => void): Promise<boolean> {
    for (let left = size; left > 0;) {
      if (this.#rest.length === 0 && !(await this.#fill())) return false;
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      take(piece);
    }
    return true;
  }

  async #fill(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done !== true) this.#rest = next.value;
    return next.done !== true;
  }
}
