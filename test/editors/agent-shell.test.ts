import { describe, expect, test } from "vitest";
import type { Playground } from "../agents/playground.ts";
import { configureEmacs, type Emacs, installEmacs, startEmacs } from "./emacs.ts";
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

const packages = ["agent-shell", "acp.el", "shell-maker"] as const;
const missing = await installEmacs(packages);

/** The agent has the name of one that needs no login. */
const agent = `(require 'agent-shell)
(setq agent-shell-pi-acp-command '(${agentCommand.map((word) => JSON.stringify(word)).join(" ")}))\n`;
const atOnce = `${agent}(setq agent-shell-session-strategy 'new)\n`;

describe.skipIf(missing !== undefined)("agent-shell in a real Emacs", () => {
  test("lists and completes a skill, invokes it, and lists it as edited", async () => {
    const { playground, shell } = await openShell(atOnce);
    await shell.shows("/hello-skill  Greets a person.");
    await shell.type("/");
    await shell.shows(/> \/hello-skill $/);
    await shell.type("Ada\r");
    await shell.shows('Use the skill \\"hello-skill\\": Ada');
    await shell.shows("Greet them warmly.");
    await shell.shows(ready);
    await describeSkill(playground, "Greets people.");
    await shell.shows("/hello-skill  Greets people.");
  });

  test("lists skills only after the first prompt, unless agent-shell-session-strategy is new", async () => {
    const { shell } = await openShell(agent);
    await shell.shows(ready);
    await shell.type(`${runGreeting}\r`);
    await shell.shows("/hello-skill  Greets a person.");
    await shell.shows(ready);
  });

  test.each([
    ["y", "Read once", "Allowed once", "[done]", "y"],
    ["C-c C-c", "Not now", "Not answered", "[error]", "\u0003\u0003"],
  ])("shows the question whole; its %s for %s is %s to us", async (key, label, outcome, mark, characters) => {
    const { shell } = await openShell(atOnce);
    await shell.type(`${readGreeting}\r`);
    await shell.shows(readQuestion);
    await shell.shows(`[ ${label} (${key}) ]`);
    await read();
    await shell.type(characters, "the buttons");
    await shell.shows(`${mark}[read] ${outcome}`);
    await shell.shows(ready);
  });

  test("shows a run while it prints, and its output", async () => {
    const { shell } = await openShell(atOnce);
    await shell.type(`${runGreeting}\r`);
    await shell.shows(/\[busy\]\[run\] Run scripts\/greet\.py of skill hello-skill on Ada\s+greeting Ada\n/);
    await shell.shows(/\[done\]\[run\] Run scripts\/greet\.py of skill hello-skill on Ada\s+greeting Ada\ngreeted\n/);
    await shell.shows(ready);
  });

  test("says that the agent ended when the wrapper is killed, and starts it again with the next prompt", async () => {
    const { emacs, shell } = await openShell(atOnce);
    await shell.type("silent\r");
    await shell.shows("silent\n");
    await killWrapper(emacs.process);
    await shell.shows("Agent process ended before completing request: killed");
    await shell.shows(ready);
    await shell.type("say I am back.\r");
    await shell.shows(/^I am back\.$/m);
  });
});

/** The prompt at the end of the shell. */
const ready = /\nPi> $/;

interface Shell {
  /** Types characters at the end of the shell, or where agent-shell has put the cursor. */
  type(characters: string, where?: "the end" | "the buttons"): Promise<void>;
  /** Waits until the text of the shell has this. */
  shows(expected: string | RegExp): Promise<void>;
}

async function openShell(
  configuration: string,
): Promise<{ readonly playground: Playground; readonly emacs: Emacs; readonly shell: Shell }> {
  const playground = await prepareProject();
  await configureEmacs(playground, packages, configuration);
  await setUp(playground, "agent-shell");
  const emacs = await startEmacs(playground);
  await emacs.lisp(`(progn (cd ${JSON.stringify(playground.project)}) (agent-shell-pi-start-agent) t)`);
  const inShell = (expression: string): Promise<unknown> =>
    emacs.lisp(`(with-current-buffer (car (agent-shell-buffers)) ${expression})`);
  const text = async (): Promise<string> =>
    String(await inShell("(buffer-substring-no-properties (point-min) (point-max))"));
  const shows = (expected: string | RegExp): Promise<void> => expect.poll(text).toMatch(expected);
  const type = async (characters: string, where = "the end"): Promise<void> => {
    const go = where === "the end" ? "(goto-char (point-max))" : "(agent-shell-jump-to-latest-permission-button-row)";
    const keys = Array.from(characters, (character) => character.codePointAt(0)).join(" ");
    await emacs.lisp(`(progn (switch-to-buffer (car (agent-shell-buffers))) ${go} (execute-kbd-macro [${keys}]) t)`);
  };
  if (configuration === atOnce) await shows("/hello-skill  Greets a person.");
  return { playground, emacs, shell: { type, shows } };
}
