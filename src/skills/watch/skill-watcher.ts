/** Told that something may have happened in `directory` (to `name`, where the system says); it means "look again", nothing more. */
export type Hint = (directory: string, name: string | undefined) => void;

/**
 * The port through which change is noticed. Directories are watched one by one, never recursively: what happens in them where
 * the path is real, and of every path, missing or behind links, whether it leads elsewhere than before.
 */
export interface SkillWatcher {
  /** Starts to watch; nothing happens for a path that is watched already and still leads to the same. Never throws. */
  add(target: string): void;
  remove(target: string): void;
  close(): Promise<void>;
}

/**
 * Opens a watcher. `hint` must not throw. `degraded` is called at most once, with a sentence for people, when the system's
 * watches run out and the adapter goes over to polling.
 */
export type OpenSkillWatcher = (hint: Hint, degraded: (message: string) => void) => SkillWatcher;
