import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { coversUse } from "../../../src/trust/tools/tool-patterns.ts";

/** Whether an entry of the widest form that names the program covers the command. */
function isCovered(command: string): boolean {
  const [program = "", second = "", ...others] = command.split(" ");
  const entries = [`Bash(${program}:*)`, `Bash(${program} *)`, `Bash(${program} * x)`];
  // Without other words, the entry would spell the command in full.
  if (others.length > 0) entries.push(`Bash(${program} ${second}:*)`);
  return entries.some((entry) => coversUse(entry, { tool: "Bash", command }));
}

test.each([
  ...["git status", "git status -sb", "git log --oneline -5", "git diff --stat", "git diff --cached -- src/a.ts"],
  ...["git show HEAD:a.txt", "git blame -L 1,5 a.ts", "git add -A", "git commit -am 'Fix it'", "git branch -vv"],
  ...["git remote -v", "git fetch --all --prune", "git rev-parse --abbrev-ref HEAD", "git ls-files", "git grep -n x"],
  ...[
    "ls -la",
    "cat a.txt",
    "head -n 5 a.txt",
    "head -5 a.txt",
    "tail -20 a.log",
    "wc -l a.txt",
    "pwd -P",
    "mkdir -p a/b",
  ],
  ...[
    "touch a.txt",
    "grep -rn 'a b' src",
    "rg -n x src",
    "fd -e ts",
    "find . -maxdepth 2 -name '*.ts'",
    "jq -r .a b.json",
  ],
  ...[
    "sort -u a.txt",
    "diff -u a b",
    "du -sh .",
    "date -u +%F",
    "tree -L 2",
    "which -a node",
    "stat a.txt",
    "ls ./*.md",
  ],
])("%s is harmless", (command) => {
  expect(isCovered(command)).toBe(true);
});

const marker = "./CMD";
test.each([
  `git clone -u '${marker}; git-upload-pack' a b`,
  `git clone --template=DIR a b`,
  `git clone -c core.fsmonitor=${marker} a b`,
  `git clone a b`,
  `git clone 'ext::sh -c ${marker}'`,
  `git fetch 'ext::sh -c ${marker}'`,
  "git fetch elsewhere",
  `git fetch --upload-pack=${marker}`,
  `git ls-remote 'ext::${marker}'`,
  `git ls-remote --upload-pack=${marker} .`,
  "git push elsewhere main",
  `git push --receive-pack=${marker}`,
  `git pull 'ext::${marker}'`,
  `git remote add x 'ext::${marker}'`,
  `git archive --remote=x --exec=${marker} HEAD`,
  `git filter-branch --tree-filter ${marker}`,
  `git send-email --sendmail-cmd=${marker}`,
  `git send-email --to-cmd ${marker} x`,
  `git bisect run ${marker}`,
  `git submodule foreach ${marker}`,
  "git submodule add -- x",
  `git config alias.x '!${marker}'`,
  `git config core.pager ${marker}`,
  `git config --get x --add y`,
  `git instaweb --httpd=${marker}`,
  `git rebase -x ${marker} HEAD~1`,
  `git rebase --exec=${marker}`,
  `git difftool -x ${marker}`,
  `git mergetool -t x`,
  `git merge -s x y`,
  `git grep -O${marker} x`,
  `git grep --open-files-in-pager=${marker} x`,
  "git log --output=x",
  "git log --outpu=x",
  "git diff --ext-diff",
  "git diff --no-index --output=x a b",
  "git show --textconv",
  "git log --help",
  "git help log",
  `git -c alias.x=!${marker} x`,
  "git -C /tmp/x status",
  "git --git-dir=x log",
  "git --exec-path=x log",
  "git --config-env=a=b log",
  "git --paginate log",
  "git init --template=x",
  "git worktree add x",
  `git notes edit`,
  "git commit -F x --edit",
  `git commit --template x`,
  "git x",
  `tar -F ${marker} -cf x y`,
  `tar --info-script=${marker} -cf x y`,
  `tar --new-volume-script=${marker} -cf x y`,
  `tar --to-command=${marker} -xf x`,
  `tar -I ${marker} -cf x y`,
  `tar cfI x ${marker}`,
  `tar xf x --use-compress-prog=${marker}`,
  "tar tf host:x",
  "tar cf x *",
  `rsync -e ${marker} a b:c`,
  "rsync --daemon --config=x",
  `rsync --rsync-path=${marker} a b:c`,
  `rg --pre ${marker} x`,
  `rg --pre=${marker} x`,
  `rg --hostname-bin=${marker} x`,
  `rg -z x`,
  `fd -x ${marker}`,
  `fd . -X ${marker}`,
  `fd --exec ${marker}`,
  `fd -Hx ${marker}`,
  "fd -l x",
  `zip x y -TT '${marker} {}'`,
  `zip -T --unzip-command=${marker} x y`,
  `split --filter=${marker} x`,
  `find . -exec ${marker} {} +`,
  `find . -execdir ${marker}`,
  `find . -ok ${marker}`,
  "find . -delete",
  "find . -fprintf x y",
  "find -files0-from x",
  `xargs ${marker}`,
  `make SHELL=${marker}`,
  "make -f x",
  `npm exec ${marker}`,
  `npm test --script-shell=${marker}`,
  "npm run x",
  `npx ${marker}`,
  `node ${marker}`,
  "node -e x",
  `python ${marker}`,
  "python3 -c x",
  `env ${marker}`,
  `sed -n 1e${marker} x`,
  `awk 'BEGIN {system("${marker}")}'`,
  `ssh -oProxyCommand=${marker} x`,
  `scp -S ${marker} a b:c`,
  `sort --compress-program=${marker} x`,
  "sort -o x y",
  "sort -uo x y",
  "diff -l a b",
  "tree -o x",
  "tree -R -H x -L 1",
  "jq -f x",
  "printf -v 'a[x]' y",
  `test -v 'a[x]'`,
  "uniq a b",
  "cp a b",
  "mv a b",
  "tee x",
  "ln -s a b",
  "chmod 755 a",
  "curl -K x",
  `curl -o x https://x.org`,
  `timeout 5 ${marker}`,
  `nice ${marker}`,
  `sudo ${marker}`,
  `watch ${marker}`,
  `parallel ${marker}`,
  `nobody-knows-it ${marker}`,
  "date -s x",
  "gh issue list --web",
  "gh issue list -w",
  `gh alias set x '!${marker}'`,
  "gh extension exec x",
  "ls *",
  "ls ?x",
  "git add *.ts",
  "git log -*",
  "grep --incl*",
  `ls ""*`,
  "git l*g",
])("%s is asked", (command) => {
  expect(isCovered(command)).toBe(false);
});

let place = "";
beforeAll(() => {
  place = mkdtempSync(path.join(tmpdir(), "harmless-"));
});
afterAll(() => {
  rmSync(place, { recursive: true });
});

const script = "#!/bin/sh\ntouch STARTED\n";
const has = (program: string): boolean => ["/usr/bin", "/bin"].some((folder) => existsSync(path.join(folder, program)));

/** Runs a command in a directory in which `CMD` leaves a trace; whether it was started. */
function starts(name: string, command: string): boolean {
  const cwd = path.join(place, name);
  mkdirSync(path.join(cwd, "template", "hooks"), { recursive: true });
  for (const file of ["CMD", "template/hooks/post-checkout"])
    writeFileSync(path.join(cwd, file), script, { mode: 0o755 });
  for (const file of ["a", "--checkpoint=1", "--checkpoint-action=exec=CMD"])
    writeFileSync(path.join(cwd, file), "x\n");
  writeFileSync(path.join(cwd, "big"), "x".repeat(200_000));
  const identity = {
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@b",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@b",
  };
  const env = { PATH: `${cwd}:/usr/bin:/bin`, HOME: cwd, ...identity };
  const run = (line: string): void => {
    try {
      execFileSync("/bin/sh", ["-c", line], { cwd, env, stdio: "ignore", timeout: 20_000 });
    } catch {
      // Most of these fail after they have started something.
    }
  };
  if (command.startsWith("git")) run("git init -q repo && cd repo && git commit -q --allow-empty -m x");
  run(command);
  return existsSync(path.join(cwd, "STARTED")) || existsSync(path.join(cwd, "clone", "STARTED"));
}

test.each(
  [
    ["git", "git clone -u 'touch STARTED; git-upload-pack' repo clone"],
    ["git", "git clone --template=template repo clone"],
    ["git", "git -c alias.x=!./CMD x"],
    ["tar", "tar -F ./CMD -L 50 -cf out big"],
    ["tar", "tar cfI out ./CMD a"],
    ["tar", "tar -cf out *"],
    ["rsync", "rsync -e ./CMD a b:c"],
    ["rg", "rg --pre ./CMD x"],
    ["fdfind", "fdfind -x ./CMD"],
    ["zip", "zip out a -T -TT ./CMD"],
    ["split", "split --filter=./CMD a"],
    ["find", "find a -exec ./CMD {} +"],
  ].map(([program = "", command = ""], index) => [program, command, `run-${index}`] as const),
)("where %s starts another program, %s is asked", (program, command, name) => {
  expect(isCovered(command)).toBe(false);
  // That real programs do start it is what makes the list above more than words.
  if (has(program)) expect(starts(name, command)).toBe(true);
});
