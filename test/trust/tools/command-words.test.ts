import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readCommand } from "../../../src/trust/tools/command-words.ts";

const values = (text: string): readonly string[] | undefined => readCommand(text)?.map(({ value }) => value);

test.each<[string, readonly string[]]>([
  ["git status", ["git", "status"]],
  ["  git   add  a.txt ", ["git", "add", "a.txt"]],
  [`git commit -m "fix: a & b; c"`, ["git", "commit", "-m", "fix: a & b; c"]],
  [`awk '{print $1}' x`, ["awk", "{print $1}", "x"]],
  [`echo a"b"'c'`, ["echo", "abc"]],
  [`echo ""`, ["echo", ""]],
  [`echo "Größe"`, ["echo", "Größe"]],
  ["npm run test:unit -- --grep=x", ["npm", "run", "test:unit", "--", "--grep=x"]],
])("reads the words of %s", (text, words) => {
  expect(values(text)).toEqual(words);
});

test.each([
  ["nothing", ""],
  ["only spaces", "   "],
  ["a list", "git status; rm -rf ~"],
  ["an and-list", "git status && rm -rf ~"],
  ["an or-list", "git status || rm -rf ~"],
  ["a pipe", "git log | sh"],
  ["a background command", "git status & rm -rf ~"],
  ["a second line", "git status\nrm -rf ~"],
  ["a carriage return", "git status\rrm -rf ~"],
  ["backticks", "git log `rm -rf ~`"],
  ["backticks in double quotes", 'git log "`rm -rf ~`"'],
  ["a substitution", "git log $(rm -rf ~)"],
  ["a substitution in double quotes", 'git log "$(rm -rf ~)"'],
  ["a variable", "git log $HOME"],
  ["a process substitution", "git diff <(rm -rf ~)"],
  ["an output redirection", "git log > ~/.bashrc"],
  ["an input redirection", "git apply < x"],
  ["a here-string", "git apply <<< x"],
  ["an escape", "git log a\\ b"],
  ["an escaped line break", "git log \\\nx"],
  ["an escape in double quotes", 'git log "a\\"; rm x; \\""'],
  ["an open quote", "git log 'x"],
  ["an open double quote", 'git log "x'],
  ["an assignment", "GIT_PAGER=x git log"],
  ["an appending assignment", "A+=x git log"],
  ["a comment", "git log # x"],
  ["a subshell", "(git log)"],
  ["a group", "{ git log; }"],
  ["a brace expansion", "git {log,push}"],
  ["a negation", "! git log"],
  ["a history expansion", "git log !!"],
  ["a quoted program", "'git' log"],
  ["a program with a wildcard", "/bin/g?t log"],
  ["a word that zsh replaces", "git =ls"],
  ["a word that zsh replaces, behind empty quotes", "git ''=ls"],
  ["an ANSI-C string", "git log $'x'"],
  ["a NUL", "git log\0x"],
  ["a tab", "git\tlog"],
  ["a no-break space", "git\u00A0log"],
  ["an ideographic space in quotes", 'git "log\u3000x"'],
  ["a right-to-left override in quotes", 'git "log\u202Ex"'],
  ["a zero-width space", "git\u200B log"],
  ["a look-alike letter", "gіt log"],
  ["too much text", `git ${"a".repeat(5_000)}`],
])("reads nothing in a command with %s", (_what, text) => {
  expect(readCommand(text)).toBeUndefined();
});

test("marks words that the shell would replace by names of files", () => {
  expect(readCommand("ls *.ts 'a*' b?")?.map(({ isGlob }) => isGlob)).toEqual([false, true, false, true]);
});

const shells = ["/bin/sh", "/bin/bash", "/bin/zsh"].filter((shell) => existsSync(shell));
const risky = fc.constantFrom(...Array.from("$`\\;&|<>(){}[]!#^*?\n\té"));
const usual = fc.constantFrom(...Array.from(`abc -_./:=+,@% '"' '"`));
const command = fc
  .array(fc.oneof({ weight: 24, arbitrary: usual }, { weight: 1, arbitrary: risky }), { maxLength: 20 })
  .map((characters) => `printf ${characters.join("")}`);

test.each(shells)("reads the same words as %s, or none", (shell) => {
  fc.assert(
    fc.property(command, (text) => {
      const words = readCommand(text);
      if (words === undefined || words.some(({ isGlob }) => isGlob)) return;
      // A function in the place of the program shows what it would get, each word on its own line.
      const script = `printf() { command printf '%s\\n' printf "$@"; }\n${text}`;
      const printed = execFileSync(shell, ["-c", script], { encoding: "utf8", cwd: "/" });
      expect(printed).toBe(words.map(({ value }) => `${value}\n`).join(""));
    }),
    { numRuns: 300 },
  );
});
