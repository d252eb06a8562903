import { realpathSync } from "node:fs";
import path from "node:path";

/** The environment of the command. Injected, so that tests never touch a real home. */
export interface SetupEnvironment {
  readonly home: string;
  /** The directory of the project, for editors that have settings there. */
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly exists: (path: string) => boolean;
  /** Returns the absolute path of a program on `PATH`. */
  readonly find: (program: string) => string | undefined;
  /** The words of a command that runs this program whatever PATH its caller has. */
  readonly wrapper: readonly [string, ...string[]];
}

/** The plan for one agent. `wrapped`: acp-skills started it before; `skipped`: acp-skills cannot start it. */
export interface PlannedAgent {
  readonly name: string;
  /** The key of the agent in the file, the same before and after the change. */
  readonly key: string;
  readonly outcome: "wrap" | "add" | "repair" | "wrapped" | "skipped";
  readonly note?: string;
}

/** The content of a file after the change. */
export interface Plan {
  readonly text: string;
  readonly agents: readonly PlannedAgent[];
}

/** An agent to be added. */
export interface NewAgent {
  readonly name: string | undefined;
  readonly words: readonly [string, ...string[]];
}

/** Keys of the agents that this command has wrapped and added. */
interface Done {
  readonly wrapped: readonly string[];
  readonly added: readonly string[];
}

/** An editor, or a plugin of one. Its functions are pure, except that they check which paths exist. */
export interface Editor {
  readonly title: string;
  /** The files that may configure agents, in the order in which acp-skills checks them. Agents are added to the first. */
  settingsFiles(where: SetupEnvironment): readonly string[];
  /** Whether every existing file of `settingsFiles` counts, instead of the first one. */
  readonly readsAll?: boolean;
  /** Paths of which at least one exists if the editor is used. Without `marks`, one of `settingsFiles` has to exist. */
  marks?(where: SetupEnvironment): readonly string[];
  /** Whether the editor has agents of its own. If the user configured none, each known agent that is on `PATH` is added. */
  readonly hasDefaults?: boolean;
  /** The change of one file, whose text is undefined if it does not exist. Throws UNREADABLE if the text cannot be understood. */
  plan(text: string | undefined, where: SetupEnvironment): Plan;
  /** Plans the change with one more agent. Absent if a program configures the agents, which acp-skills does not edit. */
  add?(text: string | undefined, agent: NewAgent, where: SetupEnvironment): Plan;
  /** An entry to paste for an agent. */
  sample?(agent: NewAgent, where: SetupEnvironment): string;
  /** Removes the changes of `done` from the text; undefined if the text has none of them, null if the file is to be deleted. */
  takeOut(text: string, done: Done, where: SetupEnvironment): string | null | undefined;
  /** The user's next step for the change to take effect. */
  readonly next: string;
}

/**
 * The words that run this program from any editor, with absolute paths. Editors often start with a PATH of a few system directories,
 * without `acp-skills` and the `node` of its first line. They cannot start `.cmd` files on Windows either.
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

/** Whether a word names this program: its command, its package for npx, or its script. */
function isOwn(word: string): boolean {
  return /(?:^|[\\/])(?:acp-skills(?:@[\w.^~-]+)?(?:\.cmd|\.exe|\.ps1)?|dist[\\/]cli[\\/]main\.js)$/.test(word);
}

/** Whether a wrapped command names programs by paths that do not exist any more, as after an update of Node. */
export function isBroken(words: readonly string[], exists: (path: string) => boolean): boolean {
  const before = words.slice(0, words.indexOf("--"));
  return before.some((word) => (path.posix.isAbsolute(word) || path.win32.isAbsolute(word)) && !exists(word));
}

const bases = {
  config: ["XDG_CONFIG_HOME", ".config"],
  data: ["XDG_DATA_HOME", ".local/share"],
  roaming: ["APPDATA", "AppData/Roaming"],
  local: ["LOCALAPPDATA", "AppData/Local"],
} as const;

/** A program's directory of one kind: below the absolute path in a variable, or below the usual directory in the home directory. */
export function programDirectory(
  { home, env }: Pick<SetupEnvironment, "home" | "env">,
  kind: keyof typeof bases,
  program: string,
): string {
  const [variable, usual] = bases[kind];
  const given = env[variable] ?? "";
  return path.join(path.isAbsolute(given) ? given : path.join(home, usual), program);
}
