/** Contents in an object store are in objects of so many bytes; the last one is smaller. */
export const objectBytes = 8 * 1024 * 1024;

/** A port to a store of objects of at most `objectBytes`. Rejects with `ObjectStoreFailure`. */
export interface ObjectStore {
  put(name: string, bytes: Buffer): Promise<void>;
  /** The bytes from `start` to before `end`; undefined if there is no such object. */
  get(name: string, start: number, end: number): Promise<Buffer | undefined>;
  /** Does nothing if there is none. */
  remove(name: string): Promise<void>;
  /** The names of all objects that are older than so long by the clock of the store, some at a time. */
  listOlder(ageMs: number): AsyncIterable<readonly string[]>;
  close(): void;
}

/** The name of the object with that number of an upload. */
export function toObjectName(object: string, number: number): string {
  return `${object}/${number}`;
}
