import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { binary, runCli } from "../../../run-cli.ts";
import { useTemporaryProject } from "../../../temporary-project.ts";

const home = useTemporaryProject();
const wrapper = [process.execPath, binary, "--"];
const isHere = spawnSync("nvim", ["--version"]).error === undefined;

/** Modules with the public configuration of the plugins, as their sources have it. */
const plugins = {
  "codecompanion/init.lua": `return { setup = function(options)
    local config = require("codecompanion.config")
    for name, adapter in pairs(options.adapters or {}) do config.adapters.acp[name] = adapter end
    return "ready"
  end }`,
  "codecompanion/config.lua": `return { adapters = { acp = {
    claude_code = "claude_code",
    opts = { show_presets = true },
  } } }`,
  "codecompanion/adapters/acp.lua": `return { extend = function(name)
    return { name = name, type = "acp", commands = { default = { "npx", "claude-agent-acp" }, yolo = { "npx", "x", "--yolo" } } }
  end }`,
  "avante/init.lua": `return { setup = function() require("avante.config").setup() end }`,
  "avante/config.lua": `local options = {}
  return setmetatable({ setup = function()
    options.acp_providers = { goose = { command = "goose", args = { "acp" } }, codex = { command = "codex-acp", env = { A = "b" } } }
  end }, { __index = function(_, key) return options[key] end })`,
  "agentic/init.lua": `return { setup = function(options)
    for name, provider in pairs(options.acp_providers) do require("agentic.config").acp_providers[name] = provider end
  end }`,
  "agentic/config.lua": `return { acp_providers = { ["opencode-acp"] = { command = "opencode", args = { "acp" } } } }`,
} as const;

/** Starts a real Neovim with the configuration of the home, and prints what a Lua expression yields. */
async function inNeovim(init: string, expression: string): Promise<unknown> {
  for (const [file, text] of Object.entries(plugins)) home.write(`.config/nvim/lua/${file}`, text);
  home.write(".config/nvim/init.lua", init);
  const print = `lua io.stdout:write(vim.fn.json_encode(${expression}))`;
  const env = { PATH: process.env["PATH"], HOME: home.directory };
  const { stdout, stderr } = await promisify(execFile)("nvim", ["--headless", "-c", print, "-c", "qa!"], { env });
  expect(stderr).toBe("");
  return JSON.parse(stdout) as unknown;
}

async function setUp(editor: string): Promise<void> {
  mkdirSync(home.at(".config/nvim"), { recursive: true });
  const { code, stdout } = await runCli(["setup", editor, "--write"], { cwd: home.directory });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`acp-skills-${editor}.lua`) as unknown });
}

const adapters = `(function()
  local found = {}
  for name, adapter in pairs(require("codecompanion.config").adapters.acp) do
    if type(adapter) == "function" then found[name] = adapter().commands end
  end
  return found
end)()`;
const customised = `require("codecompanion").setup({ adapters = {
  mine = function() return { type = "acp", commands = { default = { "mine" } } } end,
  done = { type = "acp", commands = { default = { "acp-skills", "--", "x" } } },
} })`;
const wrappedCommands = {
  claude_code: { default: [...wrapper, "npx", "claude-agent-acp"], yolo: [...wrapper, "npx", "x", "--yolo"] },
  mine: { default: [...wrapper, "mine"] },
  done: { default: ["acp-skills", "--", "x"] },
};

describe.skipIf(!isHere)("in a real Neovim", () => {
  test("wraps the adapters of CodeCompanion that init.lua sets up", async () => {
    await setUp("codecompanion");
    expect(await inNeovim(customised, adapters)).toEqual(wrappedCommands);
  });

  test("wraps them as well if a plugin manager loads CodeCompanion later, and when it is set up again", async () => {
    await setUp("codecompanion");
    const later = `vim.cmd("autocmd VimEnter * lua require('codecompanion').setup({})")`;
    expect(await inNeovim(later, `(function() ${customised} return ${adapters} end)()`)).toEqual(wrappedCommands);
  });

  test("wraps the providers of avante.nvim, and keeps their environment", async () => {
    await setUp("avante");
    const again = `(function() require("avante").setup() return require("avante.config").acp_providers end)()`;
    for (const expression of [`require("avante.config").acp_providers`, again])
      expect(await inNeovim(`require("avante").setup()`, expression)).toEqual({
        goose: { command: wrapper[0], args: [...wrapper.slice(1), "goose", "acp"] },
        codex: { command: wrapper[0], args: [...wrapper.slice(1), "codex-acp"], env: { A: "b" } },
      });
  });

  test("wraps the providers of agentic.nvim, its own and the person's", async () => {
    await setUp("agentic");
    const init = `require("agentic").setup({ acp_providers = { mine = { command = "mine" } } })`;
    expect(await inNeovim(init, `require("agentic.config").acp_providers`)).toEqual({
      "opencode-acp": { command: wrapper[0], args: [...wrapper.slice(1), "opencode", "acp"] },
      mine: { command: wrapper[0], args: [...wrapper.slice(1), "mine"] },
    });
  });

  test("does not load a plugin that nobody loads", async () => {
    await setUp("avante");
    expect(await inNeovim("", `package.loaded["avante"] == nil`)).toBe(true);
  });
});

test("--undo removes the file", async () => {
  await setUp("avante");
  const file = ".config/nvim/after/plugin/acp-skills-avante.lua";
  expect(readFileSync(home.at(file), "utf8")).toContain(JSON.stringify(binary));
  const { code, stdout } = await runCli(["setup", "avante", "--undo"], { cwd: home.directory });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`deleted ~/${file}`) as unknown });
});

test("says by which key each plugin completes skills", async () => {
  mkdirSync(home.at(".config/nvim"), { recursive: true });
  const next = async (editor: string) => (await runCli(["setup", editor, "--write"], { cwd: home.directory })).stderr;
  expect(await next("codecompanion")).toMatch(/and type \\\.\n$/);
  expect(await next("agentic")).toContain("open agentic with an ACP provider");
});
