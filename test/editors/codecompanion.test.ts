import { describe, expect, test } from "vitest";
import { configureNeovim, installNeovim, type Neovim, startNeovim } from "./neovim.ts";
import {
  agentCommand,
  describeSkill,
  killWrapper,
  prepareProject,
  read,
  readGreeting,
  readQuestion,
  runGreeting,
  setUp,
} from "./wrapped-chat.ts";
import type { Playground } from "../agents/playground.ts";

const plugins = ["codecompanion.nvim", "plenary.nvim"] as const;
const missing = await installNeovim(plugins);

/** An adapter of the person's own; the plugin's Claude looks for a token. */
const configuration = `
local words = vim.json.decode([==[${JSON.stringify(agentCommand)}]==])
require("codecompanion").setup({
  adapters = { acp = { scripted = function()
    return require("codecompanion.adapters").extend("claude_code", {
      commands = { default = words },
      handlers = { setup = function() return true end, auth = function() return true end },
    })
  end } },
  interactions = { chat = { adapter = "scripted" } },
})
`;

describe.skipIf(missing !== undefined)("CodeCompanion in a real Neovim", () => {
  test("completes a skill, invokes it, and completes it as edited", async () => {
    const { playground, neovim } = await openChat();
    expect(await neovim.complete("\\\\")).toEqual(["\\hello-skill: Greets a person. what to do"]);

    await say(neovim, "\\hello-skill Ada");
    await neovim.shows('Use the skill \\"hello-skill\\": Ada');
    await neovim.shows("Greet them warmly.");
    await neovim.shows(ready);

    await describeSkill(playground, "Greets people.");
    await expect.poll(() => neovim.complete("\\\\")).toEqual(["\\hello-skill: Greets people. what to do"]);
  });

  test("completes the name of a skill only until its hyphen is typed", async () => {
    const { neovim } = await openChat();
    expect(await neovim.complete("\\hel")).toHaveLength(1);
    expect(await neovim.complete("\\hello-s")).toEqual([]);
  });

  test.each([
    ["g2", "Accept", "Read: Allowed once"],
    ["g3", "Reject", "Read: Not now"],
  ])("shows the question whole, and takes %s as its answer", async (key, label, outcome) => {
    const { neovim } = await openChat();
    await say(neovim, readGreeting);
    await neovim.shows(`Read: ${readQuestion}`);
    await neovim.shows(`- \`${key}\` - ${label}`);
    await read();
    await neovim.type(key);
    await neovim.shows(`You selected: ${label}`);
    await neovim.shows(outcome);
    await neovim.shows(ready);
  });

  test("shows one line for a run, and neither its progress nor its output", async () => {
    const { neovim } = await openChat();
    await say(neovim, runGreeting);
    await neovim.shows("Execute: Run scripts/greet.py of skill hello-skill on Ada");
    await neovim.shows(ready);
    expect(await neovim.text()).not.toContain("greeted");
  });

  test("says only that the turn was cancelled when the wrapper is killed, fails in that chat, and starts it again in a new one", async () => {
    const { neovim } = await openChat();
    await say(neovim, "silent");
    await killWrapper(neovim.process);
    const messages = `return vim.api.nvim_exec2("messages", { output = true }).output`;
    await expect.poll(() => neovim.lua(messages)).toContain("Turn ended with stop_reason=canceled");
    await say(neovim, "say I am back.");
    await expect.poll(() => neovim.lua(messages)).toContain("attempt to yield across C-call boundary");
    await newChat(neovim);
    await say(neovim, "say I am back.");
    await neovim.shows(/^I am back\.$/m);
  });
});

/** The header that waits for the next prompt, at the end of the chat. */
const ready = /## Me\s*$/;

async function openChat(): Promise<{ readonly playground: Playground; readonly neovim: Neovim }> {
  const playground = await prepareProject();
  await configureNeovim(playground, plugins, configuration);
  await setUp(playground, "codecompanion");
  const neovim = await startNeovim(playground);
  await newChat(neovim);
  return { playground, neovim };
}

/** Opens a chat, in which the skill is listed. */
async function newChat(neovim: Neovim): Promise<void> {
  await neovim.lua(`require("codecompanion").chat() return true`);
  const listed = `return #require("codecompanion.interactions.chat.acp.commands").get_commands_for_buffer(vim.api.nvim_get_current_buf())`;
  await expect.poll(() => neovim.lua(listed)).toBe(1);
}

/** Types a prompt at the end of the chat, and sends it. */
async function say(neovim: Neovim, words: string): Promise<void> {
  await neovim.type(`<Esc>Gcc${words.replaceAll("<", "<lt>")}<Esc><CR>`);
}
