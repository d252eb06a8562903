/** Called when something may have changed in `directory` (`name`, if known). Only a hint to look again. */
export type Hint = (directory: string, name: string | undefined) => void;

/**
 * The port through which changes are noticed. Directories are watched one by one, never recursively: changes in them if the path is
 * real, and for every path, missing or behind links, whether it resolves differently than before.
 */
export interface SkillWatcher {
  /** Starts watching; no effect for a path that is watched already and still resolves to the same. Never throws. */
  add(target: string): void;
  remove(target: string): void;
  close(): Promise<void>;
}

/** Opens a watcher. `hint` must not throw. `degraded` is called at most once, with a message for users, when watches run out and polling starts. */
export type OpenSkillWatcher = (hint: Hint, degraded: (message: string) => void) => SkillWatcher;
