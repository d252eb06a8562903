import { describe, expect, test } from "vitest";
import type { Playground } from "../agents/playground.ts";
import { configureNeovim, installNeovim, type Neovim, startNeovim } from "./neovim.ts";
import {
  describeSkill,
  killWrapper,
  luaProvider,
  prepareProject,
  read,
  readGreeting,
  readQuestion,
  runGreeting,
  setUp,
} from "./wrapped-chat.ts";

const plugins = ["agentic.nvim"] as const;
const missing = await installNeovim(plugins);

/** The plugin writes a log there, and fails without the folder, which other plugins make. */
const configuration = `
vim.fn.mkdir(vim.fn.stdpath("cache"), "p")
require("agentic").setup({ provider = "scripted", acp_providers = { scripted = ${luaProvider} } })
`;

describe.skipIf(missing !== undefined)("agentic.nvim in a real Neovim", () => {
  test("completes nothing, and invokes a skill that is typed, as edited", async () => {
    const { playground, neovim } = await openChat();
    await neovim.enter("AgenticInput");
    expect(await neovim.lua("return vim.bo.omnifunc .. vim.bo.completefunc")).toBe("");
    await describeSkill(playground, "Greets people.");
    await say(neovim, "/hello-skill Ada");
    await neovim.shows('Use the skill \\"hello-skill\\": Ada');
    await neovim.shows("Greet them warmly.");
    await expect
      .poll(async () => {
        await say(neovim, "/hello-skill Ben");
        return await neovim.text();
      })
      .toContain("Greets people.");
  });

  test.each([
    ["1", "Read once", "completed"],
    ["3", "Not now", "failed"],
  ])("shows the question whole, and takes %s as its answer: %s", async (key, label, outcome) => {
    const { neovim } = await openChat();
    await say(neovim, readGreeting);
    await neovim.shows(readQuestion);
    await neovim.shows(new RegExp(`- \\[${key}\\] .*${label}`));
    await read();
    await neovim.type(key);
    await neovim.shows(new RegExp(`read\\(${readQuestion}.*\\)\\s+${outcome}`));
    await neovim.shows(done);
  });

  test("shows a run while it prints, and its output", async () => {
    const { neovim } = await openChat();
    await say(neovim, runGreeting);
    const call = String.raw`execute\(Run scripts/greet\.py of skill hello-skill on Ada\)\s+greeting Ada\n`;
    await neovim.shows(new RegExp(`${call}\\s*in_progress`));
    await neovim.shows(new RegExp(`${call}greeted\nCompleted\\.\\s+completed`));
    await neovim.shows(done);
  });

  test("says only that the agent exited when the wrapper is killed, and loses the next prompt", async () => {
    const { neovim } = await openChat();
    await say(neovim, "silent");
    await neovim.shows(/^silent$/m);
    await killWrapper(neovim.process);
    const messages = `return vim.api.nvim_exec2("messages", { output = true }).output`;
    await expect.poll(() => neovim.lua(messages)).toMatch(/ACP agent exited with code\s+0\s+and signal\s+9/);
    await say(neovim, "say I am back.");
    await neovim.shows(/^say I am back\.$/m);
    expect(await neovim.text()).not.toMatch(/^I am back\.$/m);
    expect(await neovim.text()).not.toMatch(done);
  });
});

/** The end of a turn. */
const done = /^### 🏁 /m;

async function openChat(): Promise<{ readonly playground: Playground; readonly neovim: Neovim }> {
  const playground = await prepareProject();
  await configureNeovim(playground, plugins, configuration);
  await setUp(playground, "agentic");
  const neovim = await startNeovim(playground);
  await neovim.lua(`require("agentic").open() return true`);
  await neovim.shows("# Agentic - scripted - session-1");
  return { playground, neovim };
}

/** Types a prompt into its window, and sends it; the cursor is in the chat afterwards. */
async function say(neovim: Neovim, words: string): Promise<void> {
  await neovim.enter("AgenticInput");
  await neovim.type(`<Esc>cc${words.replaceAll("<", "<lt>")}<Esc><C-s>`);
}
