import type { Clock } from "../../base/clock.ts";
import { openDiskLeases } from "./disk-leases.ts";
import type { DiskLeases } from "./disk-leases.ts";
import { findDiskLayout, isOwnDirectory, isWhole, makeDiskLayout } from "./disk-layout.ts";
import type { DiskLayout } from "./disk-layout.ts";
import { openProcessRegistry } from "./process-registry.ts";
import type { ProcessRegistry } from "./process-registry.ts";
import { openTicketLock } from "./ticket-lock.ts";
import type { TicketLock } from "./ticket-lock.ts";

/** A store's directory as one process changes it. */
export interface DiskPlace {
  readonly layout: DiskLayout;
  readonly registry: ProcessRegistry;
  readonly lock: TicketLock;
  readonly leases: DiskLeases;
}

/** A directory that may be read-only, full, or gone for a while: it is looked for each time, and what was wrong may be mended meanwhile. */
export interface DiskPlaces {
  /** For those who only look: undefined where there is no store. Changes nothing. */
  readable(): DiskLayout | undefined;
  /** Made, and entered in its registry, where it is not there, or not there any more. */
  writable(): DiskPlace;
  /** Ends every hold. */
  close(): Promise<void>;
}

export interface DiskPlacesOptions {
  readonly clock: Clock;
  readonly diskNow: (() => number) | undefined;
  readonly pause: (ms: number) => Promise<void>;
  /** A text that nobody else has. */
  readonly newToken: () => string;
}

export function openDiskPlaces(directory: string, { clock, diskNow, pause, newToken }: DiskPlacesOptions): DiskPlaces {
  let found: DiskLayout | undefined;
  let place: DiskPlace | undefined;

  /** With a token of its own: two locks of one token would let each other in. */
  const open = (): DiskPlace => {
    const layout = makeDiskLayout(directory);
    const registry = openProcessRegistry(layout.processes, newToken(), { clock, diskNow });
    const lock = openTicketLock(layout.lock, registry, pause);
    return { layout, registry, lock, leases: openDiskLeases(layout.leases, registry) };
  };
  const leave = (): void => {
    const left = place;
    place = undefined;
    try {
      left?.registry.close();
    } catch {
      // The directory is gone, or nobody may write in it: then nothing of ours in it keeps anybody waiting.
    }
  };
  return {
    readable() {
      if (found === undefined || !isOwnDirectory(found.records)) found = findDiskLayout(directory);
      return found;
    },
    writable() {
      if (place !== undefined && isWhole(place.layout)) return place;
      leave();
      return (place = open());
    },
    async close() {
      const { lock, leases } = place ?? {};
      try {
        await lock?.run(() => leases?.releaseAll());
      } catch {
        // The same: holds end with this process, whatever is left of them.
      } finally {
        leave();
      }
    },
  };
}
