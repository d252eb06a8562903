import { realpathSync } from "node:fs";
import path from "node:path";

/**
 * The words that run this program from any editor. Editors often start with a PATH of a few system directories, in which neither
 * `acp-skills` nor the `node` of its first line is found, and cannot start `.cmd` files on Windows: both are given by absolute paths.
 */
export function ownWords({ execPath, argv }: Pick<NodeJS.Process, "execPath" | "argv">): readonly [string, string] {
  return [execPath, realpathSync(argv[1] ?? "")];
}

/** Whether npx runs this program from its cache, which it may empty. */
export function isTransient([, script = ""]: readonly string[]): boolean {
  return /[\\/]_npx[\\/]/.test(script);
}

/** Starts an agent through acp-skills. */
export function wrapWords(wrapper: readonly string[], agent: readonly string[], home: string): readonly string[] {
  const [command = "", ...args] = agent;
  return [...wrapper, "--", command.startsWith("~/") ? path.join(home, command.slice(2)) : command, ...args];
}

/** The agent's own words; undefined if it is not started through acp-skills. */
export function unwrapWords(words: readonly string[]): readonly string[] | undefined {
  const separator = words.indexOf("--");
  const before = words.slice(0, Math.max(0, separator));
  return before.some((word, index) => index < 3 && isOwn(word)) ? words.slice(separator + 1) : undefined;
}

/** How this program may be named: its command, its package for npx, its script. */
function isOwn(word: string): boolean {
  return /(?:^|[\\/])(?:acp-skills(?:@[\w.^~-]+)?(?:\.cmd|\.exe|\.ps1)?|dist[\\/]cli[\\/]main\.js)$/.test(word);
}

/** Whether a wrapped command names programs by paths that do not exist any more, as after an update of Node. */
export function isBroken(words: readonly string[], exists: (path: string) => boolean): boolean {
  const before = words.slice(0, words.indexOf("--"));
  return before.some((word) => (path.posix.isAbsolute(word) || path.win32.isAbsolute(word)) && !exists(word));
}
