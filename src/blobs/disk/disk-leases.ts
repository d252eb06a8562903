import { closeSync, openSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { createFlags, fileMode } from "./disk-layout.ts";
import type { ProcessRegistry } from "./process-registry.ts";

/** Blobs in use by processes, kept as files, so that sweeps of other processes respect them. Requires the lock. */
export interface DiskLeases {
  /** Holds a blob. The returned function does not require the lock. */
  take(key: string): () => void;
  /** The keys of all blobs in use by running processes. Removes the leases of processes that exited. */
  held(): ReadonlySet<string>;
  releaseAll(): void;
}

export function openDiskLeases(directory: string, registry: ProcessRegistry): DiskLeases {
  const own = new Set<string>();
  let count = 0;
  const release = (file: string): void => {
    rmSync(file, { force: true });
    own.delete(file);
  };
  return {
    take(key) {
      count += 1;
      const file = path.join(directory, `${key}.${registry.token}.${count}`);
      closeSync(openSync(file, createFlags, fileMode));
      own.add(file);
      return () => {
        release(file);
      };
    },
    held() {
      const keys = new Set<string>();
      const living = new Map<string, boolean>();
      for (const name of readdirSync(directory)) {
        const [key = "", token = ""] = name.split(".");
        const alive = living.get(token) ?? registry.livesByToken(token);
        living.set(token, alive);
        if (alive) keys.add(key);
        else rmSync(path.join(directory, name), { force: true, recursive: true });
      }
      return keys;
    },
    releaseAll() {
      [...own].forEach(release);
    },
  };
}
