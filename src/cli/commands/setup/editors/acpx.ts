import path from "node:path";
import { type EntryForm, createJsonEditor, stringItems } from "../json-editor.ts";
import { agentName } from "./agent-names.ts";

/** `argv`; a `command` with `args`; or, before it had these, a `command` that is a line of words. */
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

/** The agents of its configuration file, which acpx reads as strict JSON. */
export const acpx = createJsonEditor({
  title: "acpx",
  places: ({ home }) => [path.join(home, ".acpx", "config.json")],
  lenient: false,
  holders: ["agents"],
  form,
  blank: {},
  nameFor: (agent) => `${agentName(agent)}-skills`,
  next: "Run acpx with the name of this agent.",
});
