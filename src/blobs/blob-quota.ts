import { SkillsError } from "../errors.ts";

/** Used bytes and blobs. Identical content counts each time, so that a rejection reveals nothing about other owners. */
export interface BlobUsage {
  readonly bytes: number;
  readonly blobs: number;
}

/** The usage of a store, in total and by owner. An owner is any stable string. */
export interface CountedUsage {
  readonly total: BlobUsage;
  of(owner: string): BlobUsage;
  add(owner: string, bytes: number): void;
  remove(owner: string, bytes: number): void;
  /** The owners that have blobs, with their usage. */
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

/** Limits for all blobs together and for the blobs of one owner. */
export interface BlobQuota {
  readonly quotaBytes: number;
  readonly maxBlobs: number;
  readonly ownerQuotaBytes: number;
  readonly ownerMaxBlobs: number;
}

/** The exceeded limit: of the disk, of all blobs together, of one owner, or of one run. */
export type BlobLimit = "disk" | "store" | "owner" | "run";

/** The error if one more blob would exceed a limit; else undefined. The owner's limit is checked first, because the caller can free that. */
export function quotaRefusal(
  usage: Pick<CountedUsage, "total" | "of">,
  owner: string,
  bytes: number,
  { quotaBytes, maxBlobs, ownerQuotaBytes, ownerMaxBlobs }: BlobQuota,
): SkillsError | undefined {
  if (isBeyond(usage.of(owner), bytes, ownerQuotaBytes, ownerMaxBlobs)) {
    return quotaExceeded("owner", { maxBytes: ownerQuotaBytes, maxBlobs: ownerMaxBlobs });
  }
  if (isBeyond(usage.total, bytes, quotaBytes, maxBlobs)) {
    return quotaExceeded("store", { maxBytes: quotaBytes, maxBlobs });
  }
  return undefined;
}

const refusals: Readonly<
  Record<Exclude<BlobLimit, "disk">, { readonly of: string; readonly hint: string; readonly options: string }>
> = {
  store: {
    of: "All blobs together",
    hint: "Old ones expire: try again later, or store less. A person can remove some: acp-skills blobs rm ID.",
    options: "quotaBytes, maxBlobs",
  },
  owner: {
    of: "The blobs of one owner (a session, or the person at the command line)",
    hint: "Old ones expire: store less, or put several contents into one blob. A person can remove some: acp-skills blobs rm ID.",
    options: "ownerQuotaBytes, ownerMaxBlobs",
  },
  run: {
    of: "The blobs that one run makes",
    hint: "Put several contents into one blob, or make the rest in another run.",
    options: "runQuotaBytes, runMaxBlobs",
  },
};

/** The error for an exceeded limit: which one, its value, and what to do. */
export function quotaExceeded(
  limit: Exclude<BlobLimit, "disk">,
  { maxBytes, maxBlobs }: { readonly maxBytes: number; readonly maxBlobs: number },
): SkillsError {
  const { of, hint, options } = refusals[limit];
  const message = `${of} may be ${maxBlobs} with ${maxBytes} bytes (${options}), and this one would be more.`;
  return new SkillsError("QUOTA_EXCEEDED", message, { facts: { limit, maxBytes, maxBlobs, hint } });
}

function isBeyond(usage: BlobUsage, bytes: number, maxBytes: number, maxBlobs: number): boolean {
  return usage.bytes + bytes > maxBytes || usage.blobs >= maxBlobs;
}
