import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { binary, runCli } from "../../../run-cli.ts";
import { useTemporaryProject } from "../../../temporary-project.ts";

const home = useTemporaryProject();
const isHere = spawnSync("emacs", ["--version"]).error === undefined;
const init = ".emacs.d/init.el";
const mine = ";; mine\n(setq a 1)\n(provide (quote init))";

async function setup(...args: readonly string[]): Promise<string> {
  const { code, stdout } = await runCli(["setup", "agent-shell", ...args], { cwd: home.directory });
  expect(code).toBe(0);
  return stdout;
}

test("appends a block to the init file once, and takes it out again", async () => {
  home.write(init, mine);
  expect(await setup("--write")).toContain("every agent of agent-shell is started through acp-skills");
  const once = readFileSync(home.at(init), "utf8");
  expect(once.startsWith(`${mine}\n;; >>> acp-skills`)).toBe(true);
  await setup("--write");
  expect(readFileSync(home.at(init), "utf8")).toBe(once);
  home.write(init, `${once};; more\n`);
  await setup("--undo");
  expect(readFileSync(home.at(init), "utf8")).toBe(`${mine}\n;; more\n`);
});

test("uses the file that Emacs reads, or Doom", async () => {
  mkdirSync(home.at(".config/emacs"), { recursive: true });
  expect(await setup()).toContain("+++ ~/.config/emacs/init.el");
  home.write(".emacs", mine);
  expect(await setup()).toContain("+++ ~/.emacs\n");
  home.write(".config/doom/config.el", mine);
  expect(await setup("--write")).toContain("wrote ~/.config/doom/config.el");
  expect(existsSync(home.at(".config/emacs/init.el"))).toBe(false);
});

test.skipIf(!isHere)(
  "in a real Emacs, every client of acp.el is started through acp-skills, except wrapped ones",
  async () => {
    home.write(init, mine);
    await setup("--write");
    // The public function of acp.el, with the keywords of its source.
    home.write(
      "lisp/acp.el",
      `(require 'cl-lib)
(cl-defun acp-make-client (&key context-buffer command command-params environment-variables outgoing-request-decorator)
  (vector context-buffer command command-params environment-variables outgoing-request-decorator))
(provide 'acp)
`,
    );
    const program = `(progn (require 'json) (require 'acp) (princ (json-encode (vector
    (acp-make-client :command "npx" :command-params '("agent" "--acp") :environment-variables '("A=b"))
    (acp-make-client :command "acp-skills" :command-params '("--" "x"))
    (acp-make-client :command "alone")))))`;
    const words = ["--batch", "-L", home.at("lisp"), "-l", home.at(init), "--eval", program];
    const { stdout } = await promisify(execFile)("emacs", words, {
      env: { PATH: process.env["PATH"], HOME: home.directory },
    });
    expect(JSON.parse(stdout)).toEqual([
      [null, process.execPath, [binary, "--", "npx", "agent", "--acp"], ["A=b"], null],
      [null, "acp-skills", ["--", "x"], null, null],
      [null, process.execPath, [binary, "--", "alone"], null, null],
    ]);
  },
);
