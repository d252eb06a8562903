/** What blobs come to, equal contents counted each time: so a refusal never tells what others keep. */
export interface BlobUsage {
  readonly bytes: number;
  readonly blobs: number;
}

/** The usage of a store, together and by owner. Owners are named by any text that is the same for the same owner. */
export interface CountedUsage {
  readonly total: BlobUsage;
  of(owner: string): BlobUsage;
  add(owner: string, bytes: number): void;
  remove(owner: string, bytes: number): void;
  /** Owners that have blobs. */
  owners(): Iterable<readonly [owner: string, usage: BlobUsage]>;
}

const nothing: BlobUsage = { bytes: 0, blobs: 0 };

export function countUsage(start: Iterable<readonly [owner: string, usage: BlobUsage]> = []): CountedUsage {
  const owners = new Map(start);
  let total = [...owners.values()].reduce((sum, { bytes, blobs }) => plus(sum, bytes, blobs), nothing);
  const change = (owner: string, bytes: number, blobs: number): void => {
    const usage = plus(owners.get(owner) ?? nothing, bytes, blobs);
    if (usage.blobs > 0) owners.set(owner, usage);
    else owners.delete(owner);
    total = plus(total, bytes, blobs);
  };
  return {
    get total() {
      return total;
    },
    of: (owner) => owners.get(owner) ?? nothing,
    add: (owner, bytes) => {
      change(owner, bytes, 1);
    },
    remove: (owner, bytes) => {
      change(owner, -bytes, -1);
    },
    owners: () => owners,
  };
}

function plus(usage: BlobUsage, bytes: number, blobs: number): BlobUsage {
  return { bytes: Math.max(0, usage.bytes + bytes), blobs: Math.max(0, usage.blobs + blobs) };
}
