import type { JSONPath } from "jsonc-parser";
import { isObject } from "../../../base/json/json-value.ts";
import { usageError } from "../../command.ts";
import type { Editor, NewAgent, Plan, PlannedAgent, SetupEnvironment } from "./editor.ts";
import { type JsonChange, editJson } from "./edit-json.ts";
import { readSettings, refuseTwins, wrongType } from "./json-settings.ts";
import { isBroken, unwrapWords, wrapWords } from "./wrapper.ts";

type Entry = Readonly<Record<string, unknown>>;

/** How an entry names the command of its agent. */
export interface EntryForm {
  /** Undefined if the entry names none. */
  read(entry: Entry): readonly string[] | undefined;
  /** The keys to set for other words. */
  write(words: readonly string[], entry: Entry): Entry;
}

/** An editor that is configured by JSON. */
export interface JsonEditor extends Pick<Editor, "title" | "places" | "readsAll" | "marks" | "hasDefaults" | "next"> {
  /** Whether it reads comments and commas before a closing bracket. */
  readonly lenient: boolean;
  /** Keys of the objects and lists of agents. A new agent is added to the first. */
  readonly holders: readonly [string, ...string[]];
  /** Keys of objects that are one agent each. */
  readonly single?: readonly string[];
  readonly form: EntryForm;
  /** The entry of a new agent, besides its command. */
  readonly blank: Entry;
  /** The name of a new agent for which none is given. */
  nameFor(agent: readonly string[]): string;
  /** For an entry without a command: the agent to add beside it, or why it is left alone. */
  beside?(name: string, entry: Entry): { readonly name: string; readonly words: readonly string[] } | string;
}

/** An entry of a file: where it is, what its name is, what it contains. */
interface Placed {
  readonly path: JSONPath;
  readonly name: string;
  readonly entry: unknown;
}

/** `{command, args}`, as most editors have it. */
export const commandAndArgs: EntryForm = {
  read: ({ command, args }) =>
    typeof command === "string" && command !== "" ? [command, ...stringItems(args)] : undefined,
  write: ([command, ...args]) => ({ command, args: args.length === 0 ? undefined : args }),
};

export function stringItems(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

export function createJsonEditor(editor: JsonEditor): Editor {
  const { title, lenient, form, blank, holders, single = [], ...shared } = editor;
  const find = (text: string): readonly Placed[] => {
    const settings = readSettings(text, lenient);
    refuseTwins(text, [...single, ...holders]);
    const alone = single.flatMap((key) => {
      const entry = settings[key];
      return entry === undefined ? [] : [{ path: [key], name: nameIn(entry) ?? key, entry }];
    });
    return [...alone, ...holders.flatMap((holder) => [...entriesOf(text, settings, holder)])];
  };
  const plan = (text = "", where: SetupEnvironment): Plan => {
    const agents: PlannedAgent[] = [];
    const changes: JsonChange[] = [];
    const placed = find(text);
    for (const { path, name, entry } of placed) {
      const key = JSON.stringify(path);
      const words = isObject(entry) ? form.read(entry) : undefined;
      const inner = words && unwrapWords(words);
      if (!isObject(entry)) agents.push({ name, key, outcome: "skipped", note: "is not an object" });
      else if (words === undefined) planBeside({ path, name, entry }, placed, where);
      else if (inner !== undefined && !isBroken(words, where.exists)) agents.push({ name, key, outcome: "wrapped" });
      else {
        changes.push(...setKeys(path, form.write(wrapWords(where.wrapper, inner ?? words, where.home), entry)));
        agents.push({ name, key, outcome: inner === undefined ? "wrap" : "repair" });
      }
    }
    return { text: editJson(text, changes), agents };

    function planBeside(
      { path, name, entry }: Placed & { entry: Entry },
      all: readonly Placed[],
      { wrapper, home }: SetupEnvironment,
    ): void {
      const found = editor.beside?.(name, entry) ?? "names no command";
      if (typeof found === "string")
        return void agents.push({ name, key: JSON.stringify(path), outcome: "skipped", note: found });
      if (all.some((other) => other.name === found.name)) return;
      const added = [...path.slice(0, -1), found.name];
      const { env } = entry;
      const words = wrapWords(wrapper, found.words, home);
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
        throw usageError(
          `${title} already has an agent named ${JSON.stringify(name)}; choose another name with --name`,
        );
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
    return { path: [holders[0], name ?? editor.nameFor(words)], value };
  }
}

function setKeys(path: JSONPath, keys: Entry): JsonChange[] {
  return Object.entries(keys).map(([key, value]) => ({ path: [...path, key], value }));
}

function nameIn(entry: unknown): string | undefined {
  const { displayName, name, id } = isObject(entry) ? entry : {};
  return [displayName, name, id].find((one) => typeof one === "string" && one !== "") as string | undefined;
}

function* entriesOf(text: string, settings: Entry, holder: string): Generator<Placed, void> {
  const held = settings[holder];
  if (held === undefined || held === null) return;
  if (Array.isArray(held)) {
    for (const [index, entry] of (held as readonly unknown[]).entries())
      yield { path: [holder, index], name: nameIn(entry) ?? String(index), entry };
  } else if (isObject(held)) {
    for (const [name, entry] of Object.entries(held)) yield { path: [holder, name], name, entry };
  } else throw wrongType(text, [holder], "an object");
}
