import type { Clock } from "../../base/clock.ts";
import { openDiskLeases } from "./disk-leases.ts";
import type { DiskLeases } from "./disk-leases.ts";
import { findDiskLayout, isOwnDirectory, isWhole, makeDiskLayout } from "./disk-layout.ts";
import type { DiskLayout } from "./disk-layout.ts";
import { openProcessRegistry } from "./process-registry.ts";
import type { ProcessRegistry } from "./process-registry.ts";
import { openTicketLock } from "./ticket-lock.ts";
import type { TicketLock } from "./ticket-lock.ts";

/** A store directory, open for changes by this process. */
export interface DiskPlace {
  readonly layout: DiskLayout;
  readonly registry: ProcessRegistry;
  readonly lock: TicketLock;
  readonly leases: DiskLeases;
}

/** A store directory that may be read-only, full or missing for some time. It is checked on each call, so that it recovers without a restart. */
export interface DiskPlaces {
  /** For reading: undefined if there is no store. Changes nothing. */
  readable(): DiskLayout | undefined;
  /** For changes: creates the store if it is missing, and registers this process in it. */
  writable(): DiskPlace;
  /** Releases every hold. */
  close(): Promise<void>;
}

export interface DiskPlacesOptions {
  readonly clock: Clock;
  readonly diskNow: (() => number) | undefined;
  readonly pause: (ms: number) => Promise<void>;
  /** Returns a unique string. */
  readonly newToken: () => string;
}

export function openDiskPlaces(directory: string, { clock, diskNow, pause, newToken }: DiskPlacesOptions): DiskPlaces {
  let found: DiskLayout | undefined;
  let place: DiskPlace | undefined;

  /** Uses a new token, because two locks with the same token would not exclude each other. */
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
      // The directory is missing or not writable, so no file of this process there can block other processes.
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
        // Leftover holds end when this process exits.
      } finally {
        leave();
      }
    },
  };
}
