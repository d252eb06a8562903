import { readFileSync } from "node:fs";
import path from "node:path";
import { packageUrl } from "../../../../base/paths/location.ts";
import { type Editor, type SetupEnvironment, programDirectory } from "../editor.ts";

/** A plugin of Neovim whose agents are configured by a Lua program. */
interface Plugin {
  readonly title: string;
  /** The Lua module of the plugin, and the name of the file that acp-skills writes. */
  readonly module: string;
  /** Lua code that replaces the commands in the plugin's configuration; it may call `wrapped(command)`. */
  readonly body: () => string;
  readonly next: string;
}

const header = "-- Written by `acp-skills setup";

/**
 * A plugin of Neovim. acp-skills writes a file into `after/plugin`, which Neovim loads by itself. The file wraps whatever the plugin is
 * configured to start. It waits for the plugin's `setup`, so that a plugin manager may load the plugin at any time.
 */
function openPlugin({ title, module, body, next }: Plugin): Editor {
  const directory = (where: SetupEnvironment): string => {
    const name = where.env["NVIM_APPNAME"] || "nvim";
    return where.platform === "win32"
      ? programDirectory(where, "local", name)
      : programDirectory(where, "config", name);
  };
  const write = ({ wrapper }: SetupEnvironment): string =>
    template("wrap-agents.lua", {
      module,
      wrapper: [...wrapper, "--"].map((word) => JSON.stringify(word)).join(", "),
      body: body(),
    });
  return {
    title,
    next,
    marks: (where) => [directory(where)],
    settingsFiles: (where) => [path.join(directory(where), "after", "plugin", `acp-skills-${module}.lua`)],
    plan(text, where) {
      const wanted = write(where);
      const outcome = text === wanted ? "wrapped" : text === undefined ? "wrap" : "repair";
      return { text: wanted, agents: [{ name: `every agent of ${title}`, key: "[]", outcome }] };
    },
    takeOut: (text) => (text.startsWith(header) ? null : undefined),
  };
}

/** `adapters.acp` maps names to adapters, to functions that return one, or to names of adapters that the plugin has. */
export const codecompanion = openPlugin({
  title: "CodeCompanion",
  module: "codecompanion",
  body: () => template("wrap-adapters.lua"),
  next: "Restart Neovim, open a chat with an ACP adapter, and type \\.",
});

/** The providers of avante.nvim, in the form of agentic.nvim: names with `{ command, args, env }`. */
export const avante = openPlugin({
  title: "avante.nvim",
  module: "avante",
  body: () => template("wrap-providers.lua", { config: "avante.config" }),
  next: "Restart Neovim, and open avante with an ACP provider. avante answers all questions by itself, and nobody is asked, unless its setup has behaviour = { auto_approve_tool_permissions = false }.",
});

export const agentic = openPlugin({
  title: "agentic.nvim",
  module: "agentic",
  body: () => template("wrap-providers.lua", { config: "agentic.config" }),
  next: "Restart Neovim, and open agentic with an ACP provider.",
});

const first = ";; >>> acp-skills (written by `acp-skills setup agent-shell`, removed by `--undo`) >>>";
const last = ";; <<< acp-skills <<<";

/**
 * Emacs: a block at the end of the init file. Every agent of agent-shell is started by `acp-make-client` of acp.el, whose arguments the
 * block extends. So variables of single agents (`agent-shell-…-acp-command`) retain their values, whenever they are set.
 */
export const agentShell: Editor = {
  title: "agent-shell",
  settingsFiles: initFiles,
  marks: (where) => [...initFiles(where), ...directories(where)],
  plan(text = "", where) {
    const block = blockFor(where);
    const [before, found, after] = split(text) ?? [text === "" || text.endsWith("\n") ? text : `${text}\n`, "", ""];
    const outcome = found === block ? "wrapped" : found === "" ? "wrap" : "repair";
    return { text: before + block + after, agents: [{ name: "every agent of agent-shell", key: "[]", outcome }] };
  },
  takeOut(text) {
    const parts = split(text);
    return parts && parts[0] + parts[2];
  },
  next: "Restart Emacs, or evaluate the block, and start an agent with M-x agent-shell.",
};

function directories({ home, ...where }: SetupEnvironment): readonly string[] {
  return [path.join(home, ".emacs.d"), programDirectory({ home, env: where.env }, "config", "emacs")];
}

/** The init files in the order of Emacs, after the user's file of Doom, whose init.el is its own program. */
function initFiles(where: SetupEnvironment): readonly string[] {
  const { home, exists } = where;
  const doom = [programDirectory(where, "config", "doom"), path.join(home, ".doom.d")].map((one) =>
    path.join(one, "config.el"),
  );
  const plain = [".emacs.el", ".emacs"].map((name) => path.join(home, name));
  const [legacy = "", modern = ""] = directories(where).map((one) => path.join(one, "init.el"));
  const inDirectories =
    exists(path.dirname(legacy)) || !exists(path.dirname(modern)) ? [legacy, modern] : [modern, legacy];
  const all = [...doom, ...plain, ...inDirectories];
  const found = all.filter(exists);
  return found.length > 0 ? found : inDirectories;
}

function split(text: string): readonly [before: string, block: string, after: string] | undefined {
  const start = text.indexOf(first);
  const end = text.indexOf(`${last}\n`, start);
  if (start < 0 || end < 0) return undefined;
  const stop = end + last.length + 1;
  return [text.slice(0, start), text.slice(start, stop), text.slice(stop)];
}

function blockFor({ wrapper }: SetupEnvironment): string {
  const [program = "", ...words] = wrapper.map((word) => JSON.stringify(word));
  return template("wrap-agents.el", { first, last, program, words: [...words, '"--"'].join(" ") });
}

/** A program of this folder, with values instead of `{{name}}`. JSON strings are strings of Lua and Emacs Lisp, too. */
function template(file: string, values: Readonly<Record<string, string>> = {}): string {
  const text = readFileSync(packageUrl(`cli/commands/setup/editors/${file}`), "utf8");
  return text.replace(/\{\{(\w+)\}\}/g, (_whole, name: string) => values[name] ?? "");
}
