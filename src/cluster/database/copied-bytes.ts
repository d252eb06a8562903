import type { Connection, Submittable } from "pg";

/** Of a binary copy: a signature, flags and an extension, whose length stands before it. */
const headerBytes = 19;
const signature = Buffer.from("PGCOPY\n\xFF\r\n\0", "latin1");

/** A binary copy of a select with one column, of type `bytea`. The driver itself reads binary results as text. */
export class CopiedBytes implements Submittable {
  /** The driver calls it, too, at its timeout. */
  callback: (error?: Error | null) => void;
  readonly #select: string;
  readonly #take: (value: Buffer) => void;

  constructor(select: string, take: (value: Buffer) => void, callback: (error?: Error | null) => void) {
    this.#select = select;
    this.#take = take;
    this.callback = callback;
  }

  submit(connection: Connection): void {
    connection.query(`copy (${this.#select}) to stdout (format binary)`);
  }

  /** Copies each value: the driver uses the memory of a message again. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    let at = chunk.subarray(0, signature.length).equals(signature) ? headerBytes + chunk.readInt32BE(15) : 0;
    while (at + 6 <= chunk.length) {
      const length = chunk.readInt32BE(at + 2);
      const value = Buffer.allocUnsafeSlow(Math.max(0, length));
      chunk.copy(value, 0, at + 6);
      this.#take(value);
      at += 6 + value.length;
    }
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback();
  }

  /** What else a query can be answered with: a copy is not. */
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}
