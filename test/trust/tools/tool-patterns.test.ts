import fc from "fast-check";
import { expect, test } from "vitest";
import { coversUse, type ToolUse, toolUseInWords } from "../../../src/trust/tools/tool-patterns.ts";

const bash = (command: string): ToolUse => ({ tool: "Bash", command });
const file = (tool: "Read" | "Edit" | "Write", path: string): ToolUse => ({ tool, path });
const fetched = (url: string): ToolUse => ({ tool: "WebFetch", url });
const mcp = (server: string, name: string): ToolUse => ({ tool: "mcp", server, name: `mcp__${server}__${name}` });

test.each<[string, ToolUse]>([
  ["Bash(git:*)", bash("git")],
  ["Bash(git:*)", bash("git status")],
  ["Bash(git:*)", bash(`git commit -m "a; b"`)],
  ["Bash(git *)", bash("git status")],
  ["Bash(git add *)", bash("git add a.txt b.txt")],
  ["Bash(git add *)", bash("git add ./*.ts src/* a*")],
  ["Bash(git add:*)", bash("git add .")],
  ["Bash(gh issue:*)", bash("gh issue list --limit 3")],
  ["Bash(mkdir*)", bash("mkdir -p a/b")],
  ["Bash(npm run test)", bash("npm run test")],
  ["Bash(npm test:*)", bash("npm test")],
  ["Bash(git clone:*)", bash("git clone")],
  ["Bash(git * main)", bash("git log main")],
  ["Bash(git log:*)", bash("git log --oneline -5")],
  ["Bash(git log:*)", bash(`git log -n 3 --format="%h %s" --since=yesterday main -- src`)],
  ["Bash(git diff:*)", bash("git diff --stat HEAD~1")],
  ["Bash(git commit -m:*)", bash(`git commit -m "Fix -c"`)],
  ["Bash(gh issue list:*)", bash("gh issue list -L 3 --json title")],
  ["Bash(ls*)", bash("ls -la src")],
  ["Bash(find:*)", bash(`find . -name '*.ts' -type f`)],
  ["Bash(rg:*)", bash("rg -n -i 'a b' src")],
  ["Bash(grep:*)", bash("grep -rn x src")],
  ["Bash(date*)", bash("date +%F")],
  ["Bash(scripts/release.sh --dry-run)", bash("scripts/release.sh --dry-run")],
  ["Read(src/**)", file("Read", "src/a/b.ts")],
  ["Read(./src/*.ts)", file("Read", "src/a.ts")],
  ["Edit(**/*.md)", file("Edit", "a/b/c.md")],
  ["Edit(**/*.md)", file("Edit", "c.md")],
  ["Edit(.github/**)", file("Edit", ".github/workflows/a.yml")],
  ["Write(docs/*-notes.*)", file("Write", "docs/my-notes.md")],
  ["WebFetch(domain:example.com)", fetched("https://example.com/a?b#c")],
  ["WebFetch(domain:example.com)", fetched("https://EXAMPLE.com/")],
  ["WebFetch(domain:*.example.com)", fetched("https://docs.example.com/")],
  ["mcp__files__read", mcp("files", "read")],
  ["mcp__files", mcp("files", "read")],
  ["mcp__chrome-devtools__*", mcp("chrome-devtools", "click")],
])("%s covers %o", (pattern, use) => {
  expect(coversUse(pattern, use)).toBe(true);
});

test.each<[string, ToolUse]>([
  ["bash", bash("git status")],
  ["Bash", bash("git status")],
  ["Read", file("Read", "a.ts")],
  ["Edit", file("Edit", "a.ts")],
  ["Edit(**)", file("Edit", "a.ts")],
  ["Edit(./**/*)", file("Edit", "a.ts")],
  ["Edit(.*/**)", file("Edit", ".git/config")],
  ["Write", file("Write", "a.ts")],
  ["WebFetch", fetched("https://example.com/a")],
  ["Bash(git * main)", bash("git push main")],
  ["Bash(git * --output)", bash("git log --output")],
  ["Bash(git log --output *)", bash("git log --output x")],
  ["Bash(git -c color.ui=never log:*)", bash("git -c color.ui=never log -3")],
  ["Bash(scripts/release.sh:*)", bash("scripts/release.sh --dry-run")],
  ["Bash(./git:*)", bash("./git log")],
  ["*", bash("git status")],
  ["Bash(*)", bash("git status")],
  ["Bash(:*)", bash("git status")],
  ["Bash( *)", bash("git status")],
  ["Bash()", bash("git status")],
  ["Bash", file("Read", "a")],
  ["Bash(git:*)", bash("gitk")],
  ["Bash(git:*)", bash("git-evil")],
  ["Bash(git:*)", bash("/tmp/git status")],
  ["Bash(git:*)", bash("git status; rm -rf ~")],
  ["Bash(git:*)", bash("git log | sh")],
  ["Bash(git:*)", bash("git log $(sh)")],
  ["Bash(git:*)", bash("git -c core.pager=sh log")],
  ["Bash(git:*)", bash("git -c alias.x=!sh x")],
  ["Bash(git:*)", bash("GIT_PAGER=sh git log")],
  ["Bash(git log:*)", bash("git log --output=x")],
  ["Bash(git fetch *)", bash("git fetch --upload-pack=sh x")],
  ["Bash(find:*)", bash("find . -name x -exec sh {} +")],
  ["Bash(find:*)", bash("find . -delete")],
  ["Bash(ls*)", bash("lsof")],
  ["Bash(git add *)", bash("git commit")],
  ["Bash(git add *)", bash("git  'add' $x")],
  ["Bash(npm run test)", bash("npm run test --x")],
  ["Bash(npm run test)", bash("npm run tests")],
  ["Bash(git * main)", bash("git push origin main")],
  ["Bash(git * main)", bash("git * main")],
  ["Bash(* --version)", bash("rm --version")],
  ["Bash(git log)(x)", bash("git log")],
  ["Bash(${CLAUDE_PLUGIN_ROOT}/x.sh:*)", bash("${CLAUDE_PLUGIN_ROOT}/x.sh")],
  ["Bash(git:*", bash("git status")],
  ["Bash (git:*)", bash("git status")],
  [" Bash", bash("git status")],
  ["Βash", bash("git status")],
  ["Read", file("Read", "../a")],
  ["Read", file("Read", "/etc/passwd")],
  ["Read", file("Read", ".env")],
  ["Read", file("Read", "a/.git/config")],
  ["Read", file("Read", "")],
  ["Read", file("Edit", "a")],
  ["Edit", file("Write", "a")],
  ["Read(src/**)", file("Read", "src2/a.ts")],
  ["Read(src/**)", file("Read", "src/../a.ts")],
  ["Read(src/**)", file("Read", "src/.env")],
  ["Read(src/*)", file("Read", "src/a/b.ts")],
  ["Read(//etc/passwd)", file("Read", "etc/passwd")],
  ["Read(~/x)", file("Read", "~/x")],
  ["Read(../**)", file("Read", "../x")],
  ["Read(src/[ab].ts)", file("Read", "src/a.ts")],
  ["WebFetch", fetched("file:///etc/passwd")],
  ["WebFetch", fetched("x")],
  ["WebFetch(example.com)", fetched("https://example.com/")],
  ["WebFetch(domain:example.com)", fetched("https://example.com.evil.org/")],
  ["WebFetch(domain:example.com)", fetched("https://sub.example.com/")],
  ["WebFetch(domain:example.com)", fetched("https://evil.org/@example.com")],
  ["WebFetch(domain:example.com)", fetched("https://example.com@evil.org/")],
  ["WebFetch(domain:example.com)", fetched("https://x@example.com/")],
  ["WebFetch(domain:example.com)", fetched("https://example.com:8443/")],
  ["WebFetch(domain:*.example.com)", fetched("https://example.com/")],
  ["WebFetch(domain:*)", fetched("https://example.com/")],
  ["mcp__*", mcp("files", "read")],
  ["mcp__files__write", mcp("files", "read")],
  ["mcp__file", mcp("files", "read")],
  ["mcp__files__*", mcp("files__x", "read")],
  ["mcp__a__b", mcp("a__b", "c")],
  ["mcp__files__read(x)", mcp("files", "read")],
])("%s does not cover %o", (pattern, use) => {
  expect(coversUse(pattern, use)).toBe(false);
});

const operators = [
  ";",
  "&&",
  "||",
  "|",
  "&",
  "\n",
  "`x`",
  "$(x)",
  "<(x)",
  ">x",
  "<x",
  "\\",
  "$X",
  "\r",
  "\0",
  "(",
  "{",
];

test("a prefix never covers a command with an operator outside quotes", () => {
  const word = fc.stringMatching(/^[a-z0-9./=-]{1,8}$/);
  const rest = fc.array(word, { maxLength: 4 }).map((words) => words.join(" "));
  fc.assert(
    fc.property(rest, fc.constantFrom(...operators), rest, fc.boolean(), (before, operator, after, isSpaced) => {
      const gap = isSpaced ? " " : "";
      const command = `git ${before}${gap}${operator}${gap}${after}`;
      for (const pattern of ["Bash(git:*)", "Bash(git *)", "Bash(git*)"])
        expect(coversUse(pattern, bash(command))).toBe(false);
    }),
  );
});

test("a prefix covers only commands that begin with its words", () => {
  const word = fc.constantFrom("git", "add", "a", "-A", "gitx", "'git'", "*");
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
      // An unquoted wildcard could become an option through the name of a file.
      const begins = words[0] === "git" && words[1] === "add" && !words.includes("*");
      expect(coversUse("Bash(git add:*)", bash(words.join(" ")))).toBe(begins);
    }),
  );
});

test("never throws, and covers nothing outside the session's directories", () => {
  const path = fc.array(fc.constantFrom("a", "..", ".", "", ".b", "c*", "/", "\\"), { maxLength: 6 });
  const part = fc.constantFrom("**", "*", "a", "a*", "*.b", "..", "", "?");
  const pattern = fc.oneof(
    fc.string().map((body) => `Read(${body})`),
    fc.array(part, { maxLength: 6 }).map((parts) => `Read(${parts.join("/")})`),
    fc.string(),
  );
  fc.assert(
    fc.property(pattern, path, (text, segments) => {
      const isOutside = segments.some((segment) => segment === "" || segment === "." || segment === "..");
      const isCovered = coversUse(text, file("Read", segments.join("/")));
      if (isOutside || segments.length === 0) expect(isCovered).toBe(false);
    }),
  );
});

test("long patterns and inputs take linear time", () => {
  const stars = "*a".repeat(127);
  const path = `${"a".repeat(4_000)}b`;
  expect(coversUse(`Read(${stars})`, file("Read", path))).toBe(false);
  const deep = Array.from({ length: 60 }, () => "**").join("/");
  expect(coversUse(`Read(${deep}/x)`, file("Read", `${"a/".repeat(2_000)}y`))).toBe(false);
  expect(coversUse("Bash(git:*)", bash(`git ${"'a' ".repeat(1_000_000)}`))).toBe(false);
});

test("says a use in one line", () => {
  expect(toolUseInWords(bash("git push"))).toBe("Bash(git push)");
  expect(toolUseInWords(file("Edit", "a/b"))).toBe("Edit(a/b)");
  expect(toolUseInWords(fetched("https://x.org/"))).toBe("WebFetch(https://x.org/)");
  expect(toolUseInWords(mcp("files", "read"))).toBe("mcp__files__read");
});
