import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Playground } from "../agents/playground.ts";
import { installDebian, runInDebian, startInDebian } from "./debian.ts";
import { installPlugins, pluginFolder, type Plugin } from "./plugins.ts";

/** A running Neovim without a screen. */
export interface Neovim {
  readonly process: number | undefined;
  /** What a chunk of Lua returns. */
  lua(chunk: string): Promise<unknown>;
  /** Types keys, in the notation of mappings; `<` is `<lt>`. */
  type(keys: string): Promise<void>;
  /** Moves the cursor to the window that shows a buffer of this type. */
  enter(filetype: string): Promise<void>;
  /** The text of all windows, one below the other. */
  text(): Promise<string>;
  /** Waits until that text has this. */
  shows(expected: string | RegExp): Promise<void>;
  /** What omni completion offers behind these words: the word, and what stands beside it. */
  complete(words: string): Promise<readonly string[]>;
}

/** Installs Neovim and plugins; returns the reason if that is impossible. */
export async function installNeovim(plugins: readonly Plugin[]): Promise<string | undefined> {
  const missing = (await installDebian()) ?? (await installPlugins(plugins));
  if (missing !== undefined) console.warn(`Not tested in Neovim: ${missing}.`);
  return missing;
}

/** Writes the person's `init.lua`. */
export async function configureNeovim(
  { home }: Playground,
  plugins: readonly Plugin[],
  configuration: string,
): Promise<void> {
  const folder = join(home, ".config/nvim");
  await mkdir(folder, { recursive: true });
  const paths = plugins.map((name) => `vim.opt.runtimepath:append(${JSON.stringify(pluginFolder(name))})\n`);
  await writeFile(join(folder, "init.lua"), `${paths.join("")}${configuration}`);
}

/** Starts Neovim; it ends with the test. */
export async function startNeovim(playground: Playground): Promise<Neovim> {
  const socket = join(playground.temporary, "nvim.sock");
  const child = startInDebian(playground, ["nvim", "--headless", "--listen", socket]);
  onTestFinished(async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  const ask = (...words: readonly string[]): Promise<string> =>
    runInDebian(playground, ["nvim", "--server", socket, ...words]);
  const lua = async (chunk: string): Promise<unknown> => {
    const encoded = `vim.json.encode((function() ${chunk} end)())`;
    return JSON.parse(await ask("--remote-expr", `luaeval('${encoded.replaceAll("'", "''")}')`)) as unknown;
  };
  const type = async (keys: string): Promise<void> => {
    await ask("--remote-send", keys);
  };
  const text = async (): Promise<string> =>
    String(
      await lua(`return vim.iter(vim.api.nvim_list_wins()):map(function(window)
        return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
      end):flatten():join("\\n")`),
    );
  await expect.poll(() => lua("return vim.v.vim_did_enter").catch(String)).toBe(1);
  return {
    process: child.pid,
    lua,
    type,
    async enter(filetype) {
      await lua(`vim.api.nvim_set_current_win(vim.iter(vim.api.nvim_list_wins()):find(function(window)
        return vim.bo[vim.api.nvim_win_get_buf(window)].filetype == "${filetype}"
      end)) return true`);
    },
    text,
    shows: (expected) => expect.poll(text).toMatch(expected),
    async complete(words) {
      await type(`<Esc>cc${words}<C-x><C-o>`);
      await expect.poll(() => lua(`return vim.fn.complete_info({ "mode" }).mode`)).toBe("omni");
      const found = await lua(`return vim.tbl_map(function(item) return item.word .. ": " .. item.menu end,
        vim.fn.complete_info({ "items" }).items)`);
      await type("<C-e><Esc>");
      return found as readonly string[];
    },
  };
}
