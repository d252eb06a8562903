import type { FSWatcher } from "node:fs";

/** The part of `fs.watch` that is used. */
export type WatchDirectory = (
  directory: string,
  options: { persistent: false },
  listener: (event: string, name: string | null) => void,
) => Pick<FSWatcher, "close" | "on">;

export type WatchHandle = Pick<FSWatcher, "close">;

/**
 * Watches one directory: "used-up" when the system has no watch left, undefined when the directory cannot be watched now.
 * The listener gets the name of what changed, its own for the directory itself, or null when anything may have.
 */
export type OpenHandle = (
  directory: string,
  listener: (name: string | null) => void,
) => WatchHandle | "used-up" | undefined;

export function handlesOf(watchDirectory: WatchDirectory): OpenHandle {
  return (directory, listener) => {
    try {
      const handle = watchDirectory(directory, { persistent: false }, (_event, name) => listener(name));
      handle.on("error", () => listener(null));
      return handle;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      return code === "ENOSPC" || code === "EMFILE" || code === "ENFILE" ? "used-up" : undefined;
    }
  };
}
