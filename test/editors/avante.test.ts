import { describe, expect, test } from "vitest";
import { configureNeovim, installNeovim, type Neovim, startNeovim } from "./neovim.ts";
import {
  killWrapper,
  luaProvider,
  prepareProject,
  read,
  readGreeting,
  readQuestion,
  runGreeting,
  setUp,
} from "./wrapped-chat.ts";

const plugins = ["avante.nvim", "plenary.nvim", "nui.nvim"] as const;
const missing = await installNeovim(plugins);

const asking = "behaviour = { auto_approve_tool_permissions = false }";

describe.skipIf(missing !== undefined)("avante.nvim in a real Neovim", () => {
  test("refuses /name without nvim-cmp, and invokes a skill by $name, which it sends between tags", async () => {
    const neovim = await openChat(asking);
    await say(neovim, "/hello-skill Ada");
    await neovim.shows("Unknown command: hello-skill");
    await say(neovim, "$hello-skill Ada");
    await neovim.shows('Use the skill \\"hello-skill\\": Ada');
    await neovim.shows("Greet them warmly.");
  });

  test("shows that a run is going on, and its output once it has ended", async () => {
    const neovim = await openChat(asking);
    await say(neovim, runGreeting);
    await neovim.shows(/Run scripts\/greet\.py of skill hello-skill on Ada\s+generating/);
    await neovim.shows(/greeting Ada\n.*greeted\n/);
  });

  test("answers a question by itself unless it is told not to, which trusts no project", async () => {
    const neovim = await openChat("");
    await say(neovim, readGreeting);
    await neovim.shows(`Not answered: ${readQuestion}`);
    await neovim.shows("the editor answered by itself, before a person could read the question");
  });

  test.each([
    ["Read once", "Allowed once"],
    ["Trust the skills of this project", "Allowed once"],
    ["Block this skill", "Not now"],
  ])("shows the question whole; its button %j is %s to us", async (label, outcome) => {
    const neovim = await openChat(asking);
    await say(neovim, readGreeting);
    await neovim.shows(readQuestion);
    await read();
    await neovim.enter("Avante");
    await neovim.type(`<Esc>gg/${label}<CR><CR>`);
    await neovim.shows(`${outcome}: ${readQuestion}`);
  });

  test("says nothing when the wrapper is killed, and answers no further prompt", async () => {
    const neovim = await openChat(asking);
    await say(neovim, "silent");
    await neovim.shows("> silent");
    await killWrapper(neovim.process);
    await say(neovim, "say I am back.");
    await neovim.shows("> say I am back.");
    expect(await neovim.text()).not.toMatch(/^I am back\.$/m);
    expect(await neovim.lua(`return vim.api.nvim_exec2("messages", { output = true }).output`)).toBe("");
  });
});

async function openChat(options: string): Promise<Neovim> {
  const playground = await prepareProject();
  const configuration = `require("avante").setup({ provider = "scripted", acp_providers = { scripted = ${luaProvider} }, ${options} })`;
  await configureNeovim(playground, plugins, configuration);
  await setUp(playground, "avante");
  const neovim = await startNeovim(playground);
  await neovim.lua(`vim.cmd("AvanteChat") return true`);
  // A prompt before the session is open starts the agent once more.
  await expect.poll(() => neovim.lua(`return require("avante").get().chat_history.acp_session_id ~= nil`)).toBe(true);
  return neovim;
}

/** Types a prompt into its window, and sends it. */
async function say(neovim: Neovim, words: string): Promise<void> {
  await neovim.enter("AvanteInput");
  await neovim.type(`<Esc>cc${words.replaceAll("<", "<lt>")}<Esc><CR>`);
}
