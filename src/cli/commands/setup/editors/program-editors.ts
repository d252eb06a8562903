import path from "node:path";
import { type Editor, type SetupEnvironment, programDirectory } from "../editor.ts";

/** A plugin of Neovim whose agents are configured by a Lua program. */
interface Plugin {
  readonly title: string;
  /** Its Lua module, and the name of our file. */
  readonly module: string;
  /** Lua: replaces the commands in the plugin's configuration, with `wrapped(command)` at hand. */
  readonly body: string;
  readonly next: string;
}

const header = "-- Written by `acp-skills setup";

/**
 * A plugin of Neovim: a file of ours in `after/plugin`, which Neovim loads by itself, wraps whatever the plugin is configured to start.
 * It waits for the plugin's `setup`, so that it does not matter when a plugin manager loads the plugin.
 */
function openPlugin({ title, module, body, next }: Plugin): Editor {
  const directory = (where: SetupEnvironment): string => {
    const name = where.env["NVIM_APPNAME"] || "nvim";
    return where.platform === "win32"
      ? programDirectory(where, "local", name)
      : programDirectory(where, "config", name);
  };
  const write = ({ wrapper }: SetupEnvironment): string => `${header} ${module}\`; \`--undo\` removes this file.
local wrapper = { ${[...wrapper, "--"].map(luaString).join(", ")} }

-- The words of a command that starts an agent, through acp-skills.
local function wrapped(command)
  if type(command) ~= "table" or type(command[1]) ~= "string" then return command end
  for index, word in ipairs(command) do
    if word == "--" or index > 3 then break end
    if word == wrapper[2] or word:match("acp%-skills$") then return command end
  end
  local words = vim.deepcopy(wrapper)
  vim.list_extend(words, command)
  return words
end

local function wrap_configured()
${body}
end

local function attach(plugin)
  local setup = plugin.setup
  plugin.setup = function(...)
    local result = setup(...)
    wrap_configured()
    return result
  end
end

local name = ${luaString(module)}
if package.loaded[name] then
  attach(package.loaded[name])
  wrap_configured()
else
  package.preload[name] = function()
    package.preload[name] = nil
    package.loaded[name] = nil
    local plugin = require(name)
    attach(plugin)
    return plugin
  end
end
`;
  return {
    title,
    next,
    marks: (where) => [directory(where)],
    places: (where) => [path.join(directory(where), "after", "plugin", `acp-skills-${module}.lua`)],
    plan(text, where) {
      const wanted = write(where);
      const outcome = text === wanted ? "wrapped" : text === undefined ? "wrap" : "repair";
      return { text: wanted, agents: [{ name: `every agent of ${title}`, key: "[]", outcome }] };
    },
    takeOut: (text) => (text.startsWith(header) ? null : undefined),
  };
}

/** A Lua string: JSON has the same escapes, except for those of control characters. */
function luaString(text: string): string {
  return JSON.stringify(text);
}

/** `adapters.acp` maps names to adapters, to functions that return one, or to names of adapters that the plugin has. */
export const codecompanion = openPlugin({
  title: "CodeCompanion",
  module: "codecompanion",
  body: `  local adapters = require("codecompanion.config").adapters
  for adapter_name, original in pairs(adapters and adapters.acp or {}) do
    if adapter_name ~= "opts" then
      adapters.acp[adapter_name] = function(...)
        local adapter = original
        if type(adapter) == "function" then adapter = adapter(...) end
        if type(adapter) == "string" then adapter = require("codecompanion.adapters.acp").extend(adapter) end
        if type(adapter) ~= "table" or type(adapter.commands) ~= "table" then return adapter end
        local commands = {}
        for key, command in pairs(adapter.commands) do commands[key] = wrapped(command) end
        adapter.commands = commands
        return adapter
      end
    end
  end`,
  next: "Restart Neovim, open a chat with an ACP adapter, and type \\.",
});

/** Lua: wraps `acp_providers` of a module, which maps names to `{ command, args, env }`. */
function wrapProviders(config: string): string {
  return `  local providers = require(${luaString(config)}).acp_providers or {}
  for provider_name, provider in pairs(providers) do
    if type(provider) == "table" and type(provider.command) == "string" then
      local command = { provider.command }
      vim.list_extend(command, provider.args or {})
      local words = wrapped(command)
      providers[provider_name] = vim.tbl_extend("force", provider, {
        command = words[1],
        args = vim.list_slice(words, 2),
      })
    end
  end`;
}

export const avante = openPlugin({
  title: "avante.nvim",
  module: "avante",
  body: wrapProviders("avante.config"),
  next: "Restart Neovim, and open avante with an ACP provider. avante answers all questions by itself, and nobody is asked, unless its setup has behaviour = { auto_approve_tool_permissions = false }.",
});

export const agentic = openPlugin({
  title: "agentic.nvim",
  module: "agentic",
  body: wrapProviders("agentic.config"),
  next: "Restart Neovim, and open agentic with an ACP provider.",
});

const first = ";; >>> acp-skills (written by `acp-skills setup agent-shell`, removed by `--undo`) >>>";
const last = ";; <<< acp-skills <<<";

/**
 * Emacs: a block at the end of the init file. Every agent of agent-shell is started by `acp-make-client` of acp.el, whose arguments the
 * block extends: the variables of single agents (`agent-shell-…-acp-command`) keep their values, whenever they are set.
 */
export const agentShell: Editor = {
  title: "agent-shell",
  places: initFiles,
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

/** In the order of Emacs; before them the user's file of Doom, whose init.el is its own program. */
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
  return `${first}
(defun acp-skills-wrap (arguments)
  "Start the agent that ARGUMENTS of \`acp-make-client' name through acp-skills."
  (let ((command (plist-get arguments :command))
        (params (plist-get arguments :command-params))
        (program ${program})
        (words '(${[...words, '"--"'].join(" ")})))
    (if (or (null command)
            (string-suffix-p "acp-skills" command)
            (member (car words) params))
        arguments
      (plist-put (plist-put (copy-sequence arguments) :command program)
                 :command-params (append words (list command) params)))))
(with-eval-after-load 'acp
  (advice-add 'acp-make-client :filter-args #'acp-skills-wrap))
${last}
`;
}
