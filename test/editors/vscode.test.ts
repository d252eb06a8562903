import { describe, expect, test } from "vitest";
import type { Playground } from "../agents/playground.ts";
import { configureVsCode, installVsCode, setUpVsCode, startVsCode, type VsCode } from "./vscode.ts";
import {
  agentCommand,
  describeSkill,
  killWrapper,
  prepareProject,
  read,
  readGreeting,
  readQuestion,
  runGreeting,
} from "./wrapped-chat.ts";

const missing = await installVsCode();

describe.skipIf(missing !== undefined)("ACP Client in a real VS Code", () => {
  test("completes a skill, invokes it, and completes it as edited", async () => {
    const { playground, code } = await openChat();
    expect(await complete(code, "/hello-s")).toEqual(["/hello-skill Greets a person."]);
    await say(code, "/hello-skill Ada");
    // Shown as it comes, and as Markdown, which has no backslashes, once the turn has ended.
    await code.chat.getByText(/Use the skill \\?"hello-skill\\?": Ada/).waitFor();
    await code.chat.getByText("Greet them warmly.").waitFor();
    await describeSkill(playground, "Greets people.");
    await expect.poll(() => complete(code, "/hello-s")).toEqual(["/hello-skill Greets people."]);
  });

  test.each([
    ["Read once", "Allowed once"],
    ["Not now", "Not now"],
  ])("shows the question whole, and takes %s as its answer", async (label, outcome) => {
    const { code } = await openChat();
    await say(code, readGreeting);
    const question = code.page.locator(".quick-input-widget");
    await question.getByPlaceholder(readQuestion).waitFor();
    await read();
    await question.getByRole("option", { name: label }).click();
    await code.chat.getByText(`${outcome}: ${readQuestion}`).waitFor();
  });

  test("shows one line for a run, and neither its progress nor its output", async () => {
    const { code } = await openChat();
    await say(code, runGreeting);
    const call = code.chat.locator(".tool-call-inline", {
      hasText: "Run scripts/greet.py of skill hello-skill on Ada",
    });
    await call.locator(".tc-icon.completed").waitFor();
    expect(await code.chat.getByText("greeted").count()).toBe(0);
  });

  test("says that the connection is closed when the wrapper is killed, and offers to connect again", async () => {
    const { code } = await openChat();
    await say(code, runGreeting);
    // The agent has the prompt.
    await code.chat.locator(".tool-call-inline", { hasText: "Run scripts/greet.py" }).waitFor();
    await killWrapper(code.process);
    await code.chat.getByText("ACP connection closed").waitFor();
    await code.chat.getByText("Connect to Agent").waitFor();
  });
});

async function openChat(): Promise<{ readonly playground: Playground; readonly code: VsCode }> {
  const playground = await prepareProject();
  const [command, ...args] = agentCommand;
  await configureVsCode(playground, { "acp.agents": { scripted: { command, args } } });
  await setUpVsCode(playground);
  const code = await startVsCode(playground, "scripted");
  await code.chat.getByPlaceholder("/ for commands").waitFor();
  return { playground, code };
}

/** Types words into the chat; returns the commands that it offers. */
async function complete({ chat }: VsCode, words: string): Promise<readonly string[]> {
  await chat.locator("#promptInput").fill(words);
  const offered = await chat.locator(".slash-popup.open .slash-popup-item").allInnerTexts();
  return offered.map((text) => text.replace(/\s+/g, " "));
}

async function say({ chat }: VsCode, words: string): Promise<void> {
  await chat.locator("#promptInput").fill(words);
  await chat.locator("#sendStopBtn").click();
}
