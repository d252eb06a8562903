import path from "node:path";
import type { JSONPath } from "jsonc-parser";
import { isObject } from "../../../../base/json/json-value.ts";
import { usageError } from "../../../command.ts";
import {
  type Editor,
  type NewAgent,
  type Plan,
  type PlannedAgent,
  type SetupEnvironment,
  isBroken,
  unwrapWords,
  wrapWords,
  programDirectory,
} from "../editor.ts";
import { type JsonChange, editJson, readSettings, refuseTwins, wrongType } from "../json-text.ts";

type Entry = Readonly<Record<string, unknown>>;

/** The form in which an entry names the command of its agent. */
interface EntryForm {
  /** The words of the command; undefined if the entry names none. */
  read(entry: Entry): readonly string[] | undefined;
  /** The keys to set for other words. */
  write(words: readonly string[], entry: Entry): Entry;
}

/** An editor that is configured by JSON. */
interface JsonEditor extends Pick<Editor, "title" | "settingsFiles" | "readsAll" | "marks" | "hasDefaults" | "next"> {
  /** Whether the editor accepts comments, and commas before a closing bracket. */
  readonly lenient: boolean;
  /** Keys of the objects and lists of agents. A new agent is added to the first. */
  readonly holders: readonly [string, ...string[]];
  /** Default: `{command, args}`. */
  readonly form?: EntryForm;
  /** The entry of a new agent, besides its command. */
  readonly blank?: Entry;
  /** The name of a new agent for which the user gives none. Default: the name of its program, with skills. */
  readonly nameFor?: (agent: readonly string[]) => string;
  /** For an entry without a command: the agent to add beside it, or why it is left alone. */
  beside?(name: string, entry: Entry): { readonly name: string; readonly words: readonly string[] } | string;
}

/** An entry of a file: its path, its name and its content. */
interface LocatedEntry {
  readonly path: JSONPath;
  readonly name: string;
  readonly entry: unknown;
}

/** `{command, args}`, as most editors have it. */
const commandAndArgs: EntryForm = {
  read: ({ command, args }) =>
    typeof command === "string" && command !== "" ? [command, ...stringItems(args)] : undefined,
  write: ([command, ...args]) => ({ command, args: args.length === 0 ? undefined : args }),
};

function stringItems(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function createJsonEditor(editor: JsonEditor): Editor {
  const { title, lenient, form = commandAndArgs, blank = {}, holders, nameFor = nameWithSkills, ...shared } = editor;
  const find = (text: string): readonly LocatedEntry[] => {
    const settings = readSettings(text, lenient);
    refuseTwins(text, holders);
    return holders.flatMap((holder) => [...entriesOf(text, settings, holder)]);
  };
  const plan = (text = "", where: SetupEnvironment): Plan => {
    const agents: PlannedAgent[] = [];
    const changes: JsonChange[] = [];
    const located = find(text);
    for (const { path, name, entry } of located) {
      const key = JSON.stringify(path);
      const words = isObject(entry) ? form.read(entry) : undefined;
      const inner = words && unwrapWords(words);
      if (!isObject(entry)) agents.push({ name, key, outcome: "skipped", note: "is not an object" });
      else if (words === undefined) planBeside({ path, name, entry });
      else if (inner !== undefined && !isBroken(words, where.exists)) agents.push({ name, key, outcome: "wrapped" });
      else {
        changes.push(...setKeys(path, form.write(wrapWords(where.wrapper, inner ?? words, where.home), entry)));
        agents.push({ name, key, outcome: inner === undefined ? "wrap" : "repair" });
      }
    }
    return { text: editJson(text, changes), agents };

    function planBeside({ path, name, entry }: LocatedEntry & { entry: Entry }): void {
      const found = editor.beside?.(name, entry) ?? "names no command";
      if (typeof found === "string")
        return void agents.push({ name, key: JSON.stringify(path), outcome: "skipped", note: found });
      if (located.some((other) => other.name === found.name)) return;
      const added = [...path.slice(0, -1), found.name];
      const { env } = entry;
      const words = wrapWords(where.wrapper, found.words, where.home);
      changes.push({ path: added, value: { ...blank, ...form.write(words, {}), ...(isObject(env) && { env }) } });
      const note = `${title} starts ${name} itself, so an entry is added beside it`;
      agents.push({ name: found.name, key: JSON.stringify(added), outcome: "add", note });
    }
  };
  return {
    ...shared,
    title,
    plan,
    add(text = "", agent, where) {
      const before = plan(text, where);
      const { path, value } = entryFor(agent, where);
      const name = String(path[1]);
      if (find(text).some((other) => other.name === name))
        throw usageError(`${title} already has an agent named ${JSON.stringify(name)}; choose another with --name`);
      return {
        text: editJson(before.text, [{ path, value }]),
        agents: [...before.agents, { name, key: JSON.stringify(path), outcome: "add" }],
      };
    },
    sample(agent, where) {
      const { path, value } = entryFor(agent, where);
      return JSON.stringify({ [String(path[0])]: { [String(path[1])]: value } }, null, 2);
    },
    takeOut(text, done) {
      const changes: JsonChange[] = [];
      for (const { path, entry } of find(text)) {
        const key = JSON.stringify(path);
        const inner = isObject(entry) ? unwrapWords(form.read(entry) ?? []) : undefined;
        if (!isObject(entry) || inner === undefined) continue;
        if (done.added.includes(key)) changes.push({ path, value: undefined });
        else if (done.wrapped.includes(key)) changes.push(...setKeys(path, form.write(inner, entry)));
      }
      return changes.length === 0 ? undefined : editJson(text, changes);
    },
  };

  function entryFor({ name, words }: NewAgent, { wrapper, home }: SetupEnvironment): JsonChange {
    const value = { ...blank, ...form.write(wrapWords(wrapper, words, home), {}) };
    return { path: [holders[0], name ?? nameFor(words)], value };
  }
}

function setKeys(path: JSONPath, keys: Entry): JsonChange[] {
  return Object.entries(keys).map(([key, value]) => ({ path: [...path, key], value }));
}

function nameIn(entry: unknown): string | undefined {
  const { displayName, name, id } = isObject(entry) ? entry : {};
  return [displayName, name, id].find((one) => typeof one === "string" && one !== "") as string | undefined;
}

function* entriesOf(text: string, settings: Entry, holder: string): Generator<LocatedEntry, void> {
  const held = settings[holder];
  if (held === undefined || held === null) return;
  if (Array.isArray(held)) {
    for (const [index, entry] of (held as readonly unknown[]).entries())
      yield { path: [holder, index], name: nameIn(entry) ?? String(index), entry };
  } else if (isObject(held)) {
    for (const [name, entry] of Object.entries(held)) yield { path: [holder, name], name, entry };
  } else throw wrongType(text, [holder], "an object");
}

/** Agents of the ACP registry that Zed can start itself, by their ids, each with the words that start it without Zed. */
const registry: Readonly<Record<string, { readonly name: string; readonly words: readonly string[] }>> = {
  "claude-acp": { name: "Claude", words: ["npx", "-y", "@agentclientprotocol/claude-agent-acp"] },
  "codex-acp": { name: "Codex", words: ["npx", "-y", "@agentclientprotocol/codex-acp"] },
  gemini: { name: "Gemini", words: ["npx", "-y", "@google/gemini-cli", "--acp"] },
  opencode: { name: "opencode", words: ["npx", "-y", "opencode-ai", "acp"] },
  "github-copilot-cli": { name: "Copilot", words: ["npx", "-y", "@github/copilot", "--acp"] },
  "qwen-code": { name: "Qwen Code", words: ["npx", "-y", "@qwen-code/qwen-code", "--acp"] },
  "pi-acp": { name: "pi", words: ["npx", "-y", "pi-acp"] },
};

/** Keys of the agents that were built into Zed before it had the registry. */
const builtIn: Readonly<Record<string, string>> = { claude: "claude-acp", codex: "codex-acp", gemini: "gemini" };

/** `agent_servers` of Zed's user settings; `type` is `custom`, `registry` or `extension`, and was absent in older versions. */
export const zed = createJsonEditor({
  title: "Zed",
  settingsFiles(where: SetupEnvironment) {
    const directory =
      where.platform === "win32" ? programDirectory(where, "roaming", "Zed") : programDirectory(where, "config", "zed");
    return [path.join(directory, "settings.json")];
  },
  lenient: true,
  holders: ["agent_servers"],
  blank: { type: "custom" },
  beside(name, { type }) {
    const known = registry[type === undefined ? (builtIn[name] ?? name) : name];
    if (known !== undefined && type !== "extension") return { name: `${known.name} with skills`, words: known.words };
    return "is started by Zed itself; give its command: acp-skills setup zed -- AGENT";
  },
  next: "Open a new thread in Zed with this agent, and type /.",
});

/** Custom agents of the AI chat of every JetBrains IDE. Those from its registry are not in this file. */
export const jetbrains = createJsonEditor({
  title: "JetBrains",
  settingsFiles: ({ home }) => [path.join(home, ".jetbrains", "acp.json")],
  lenient: true,
  holders: ["agent_servers"],
  next: "Choose this agent in the AI chat of the IDE, and type /.",
});

const products = ["Code", "Code - Insiders", "Code - OSS", "VSCodium", "Cursor", "Windsurf"] as const;
/** The directories of VS Code servers, on a machine to which VS Code is connected. */
const remotes = [".vscode-server", ".vscode-server-insiders"] as const;

function productDirectory(where: SetupEnvironment, product: string): string {
  if (where.platform === "win32") return programDirectory(where, "roaming", product);
  if (where.platform === "darwin") return path.join(where.home, "Library", "Application Support", product);
  return programDirectory(where, "config", product);
}

/** The directories of the user's settings, directories in use first. */
function directories(where: SetupEnvironment): readonly string[] {
  const { home, platform, exists } = where;
  const served =
    platform === "win32"
      ? path.join(programDirectory(where, "local", "code-server"), "Data")
      : programDirectory(where, "data", "code-server");
  const all = [
    ...[...products.map((product) => productDirectory(where, product)), served].map((one) => path.join(one, "User")),
    ...remotes.map((remote) => path.join(home, remote, "data", "Machine")),
  ];
  const rank = (directory: string): number => [settingsIn(directory), directory].filter(exists).length;
  return all.toSorted((one, other) => rank(other) - rank(one));
}

function settingsIn(directory: string): string {
  return path.join(directory, "settings.json");
}

/**
 * VS Code extensions that are ACP clients: `acp.agents` is of formulahendry.acp-client, which adds the user's agents to its own;
 * `agent_servers` is of strato-space's ACP; `vscodeAcp.agents` (a list) is of foxweimin.vscode-acp-client.
 */
export const vscode = createJsonEditor({
  title: "VS Code",
  settingsFiles: (where) => [...directories(where), path.join(where.cwd, ".vscode")].map(settingsIn),
  marks: directories,
  readsAll: true,
  hasDefaults: true,
  lenient: true,
  holders: ["acp.agents", "agent_servers", "vscodeAcp.agents"],
  next: "Connect to this agent in the panel of the ACP extension, and type /.",
});

/** The forms of acpx: `argv`; a `command` with `args`; or the oldest form, a `command` that is a line of words. */
const form: EntryForm = {
  read({ argv, command, args }) {
    if (Array.isArray(argv) && argv.length > 0) return stringItems(argv);
    if (typeof command !== "string" || command.trim() === "") return undefined;
    return args === undefined ? splitLine(command) : [command.trim(), ...stringItems(args)];
  },
  write(words, entry) {
    const isLine = typeof entry["command"] === "string" && entry["args"] === undefined;
    if (isLine) return { command: words.map(quoteWord).join(" ") };
    const [command = "", ...args] = words;
    // A command with blanks may not have args.
    if (entry["command"] !== undefined && !/[\s'"]/.test(command)) return { command, args };
    return { command: undefined, args: undefined, argv: words };
  },
};

function splitLine(line: string): readonly string[] {
  return Array.from(line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g), ([, double, single, plain = ""]) =>
    double === undefined ? (single ?? plain) : double.replace(/\\(.)/g, "$1"),
  );
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : JSON.stringify(word);
}

/** The agents of acpx, which reads its configuration file as strict JSON. */
export const acpx = createJsonEditor({
  title: "acpx",
  settingsFiles: ({ home }) => [path.join(home, ".acpx", "config.json")],
  lenient: false,
  holders: ["agents"],
  form,
  nameFor: (agent) => `${agentName(agent)}-skills`,
  next: "Run acpx with the name of this agent.",
});

/** The name of an agent by its command: `claude-agent-acp` of `npx -y @agentclientprotocol/claude-agent-acp@1`. */
function agentName([command = "", ...args]: readonly string[]): string {
  const program = path.posix.basename(command.replaceAll("\\", "/")).replace(/\.(?:exe|cmd|js|mjs)$/, "");
  const first = args.find((word) => !word.startsWith("-"));
  if (!["npx", "bunx", "pnpm", "uvx", "node", "bun", "python", "python3"].includes(program) || first === undefined)
    return program;
  const [, name = first] = /([^\\/@]+)(?:@[^\\/@]*)?$/.exec(first) ?? [];
  return name.replace(/\.(?:js|mjs|py)$/, "");
}

function nameWithSkills(agent: readonly string[]): string {
  return `${agentName(agent)} with skills`;
}
