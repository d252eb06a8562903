import { expect, test } from "vitest";
import { factsOf } from "../../../src/acp/session/agents.ts";
import { toolUseIn } from "../../../src/acp/tools/agent-uses.ts";

const server = { name: "skills", others: [] };
const facts = { claude: factsOf("@agentclientprotocol/claude-agent-acp"), opencode: factsOf("opencode") };
const ofClaude = (toolCall: object): unknown => toolUseIn(toolCall as never, facts.claude, server, machine());
const ofOpencode = (toolCall: object, on = machine()): unknown =>
  toolUseIn(toolCall as never, facts.opencode, server, on);

function machine(shell = "/bin/bash", platform: NodeJS.Platform = "linux") {
  return { platform, env: shell === "" ? {} : { SHELL: shell } };
}

/** As Claude 0.100.0 and opencode 1.18.33 send them. */
const claude = {
  bash: {
    toolCallId: "call_2",
    name: "Bash",
    status: "pending",
    rawInput: { command: "touch x.txt && ls", description: "Status" },
    title: "touch x.txt && ls",
    kind: "execute",
    content: [{ type: "content", content: { type: "text", text: "Status" } }],
    locations: [{ path: "/project/x.txt" }],
  },
  read: {
    toolCallId: "call_4",
    name: "Read",
    status: "pending",
    rawInput: { file_path: "/etc/hostname" },
    title: "Read /etc/hostname",
    kind: "read",
    content: [],
    locations: [{ path: "/etc/hostname", line: 1 }],
  },
  edit: {
    toolCallId: "call_5",
    name: "Edit",
    status: "pending",
    rawInput: { file_path: "/project/a.txt", old_string: "hello", new_string: "bye", replace_all: false },
    title: "Edit a.txt",
    kind: "edit",
    content: [{ type: "diff", path: "/project/a.txt", oldText: "hello", newText: "bye" }],
    locations: [{ path: "/project/a.txt" }],
  },
  write: {
    toolCallId: "call_6",
    name: "Write",
    status: "pending",
    rawInput: { file_path: "/project/b.txt", content: "x" },
    title: "Write b.txt",
    kind: "edit",
    content: [{ type: "diff", path: "/project/b.txt", oldText: null, newText: "x" }],
    locations: [{ path: "/project/b.txt" }],
  },
  fetch: {
    toolCallId: "call_7",
    name: "WebFetch",
    rawInput: { url: "https://example.com/", prompt: "what" },
    title: "Fetch https://example.com/",
    kind: "fetch",
  },
  search: { toolCallId: "call_8", name: "WebSearch", rawInput: { query: "what" }, title: '"what"', kind: "fetch" },
  mcp: {
    toolCallId: "call_9",
    name: "mcp__files__read",
    title: "mcp__files__read",
    kind: "other",
    rawInput: { path: "x" },
    _meta: { claudeCode: { toolName: "mcp__files__read", mcpServer: { name: "files", source: "user" } } },
  },
};
const opencode = {
  bash: {
    toolCallId: "call_1",
    title: "git status --short",
    kind: "execute",
    status: "pending",
    locations: [],
    rawInput: { command: "git status --short" },
  },
  edit: {
    toolCallId: "call_5",
    title: "/project/a.txt",
    kind: "edit",
    status: "pending",
    locations: [{ path: "/project/a.txt" }],
    rawInput: { filepath: "/project/a.txt", diff: "Index: …" },
    content: [{ type: "diff", path: "/project/a.txt", oldText: "hello\n", newText: "bye\n" }],
  },
  fetch: {
    toolCallId: "call_7",
    title: "https://example.com/x",
    kind: "fetch",
    status: "pending",
    locations: [],
    rawInput: { url: "https://example.com/x", format: "text" },
  },
};

test("knows what Claude asks for", () => {
  expect(ofClaude(claude.bash)).toEqual({ tool: "Bash", command: "touch x.txt && ls" });
  expect(ofClaude(claude.read)).toEqual({ tool: "Read", file: "/etc/hostname" });
  expect(ofClaude(claude.edit)).toEqual({ tool: "Edit", file: "/project/a.txt" });
  expect(ofClaude(claude.write)).toEqual({ tool: "Write", file: "/project/b.txt" });
  expect(ofClaude(claude.fetch)).toEqual({ tool: "WebFetch", url: "https://example.com/" });
  expect(ofClaude(claude.search)).toBeUndefined();
  expect(ofClaude(claude.mcp)).toEqual({ tool: "mcp", server: "files", name: "mcp__files__read" });
});

test("knows what opencode asks for", () => {
  const created = [{ type: "diff", path: "/project/a.txt", oldText: "", newText: "x" }];
  expect(ofOpencode(opencode.bash)).toEqual({ tool: "Bash", command: "git status --short" });
  expect(ofOpencode(opencode.edit)).toEqual({ tool: "Edit", file: "/project/a.txt" });
  expect(ofOpencode({ ...opencode.edit, content: created })).toEqual({ tool: "Write", file: "/project/a.txt" });
  expect(ofOpencode(opencode.fetch)).toEqual({ tool: "WebFetch", url: "https://example.com/x" });
  expect(ofOpencode(opencode.bash, machine("/usr/bin/bash", "win32"))).toBeUndefined();
});

test("knows nothing about requests of other agents", () => {
  for (const agent of ["", "gemini-cli", "qwen-code", "Copilot", "codex"])
    expect(toolUseIn(claude.bash, factsOf(agent), server)).toBeUndefined();
  expect(ofOpencode(claude.bash)).toBeUndefined();
  expect(ofClaude(opencode.bash)).toBeUndefined();
});

const text = (said: string): object => ({ type: "content", content: { type: "text", text: said } });

test.each<[string, object]>([
  ["another command in the title", { ...claude.bash, title: "ls" }],
  ["another command in the input", { ...claude.bash, rawInput: { command: "rm -rf ~" } }],
  ["a command that is not text", { ...claude.bash, rawInput: { command: ["ls"] }, title: ["ls"] }],
  ["an unknown field", { ...claude.bash, rawInput: { ...claude.bash.rawInput, dangerouslyDisableSandbox: true } }],
  ["no input", { ...claude.bash, rawInput: undefined }],
  ["another kind", { ...claude.bash, kind: "read" }],
  ["no kind", { ...claude.bash, kind: undefined }],
  ["another tool in its metadata", { ...claude.bash, _meta: { claudeCode: { toolName: "Write" } } }],
  ["another text", { ...claude.bash, content: [text("Delete everything?")] }],
  ["a diff", { ...claude.bash, content: claude.edit.content }],
  ["content that is not a list", { ...claude.bash, content: "x" }],
  ["a name that is not text", { ...claude.bash, name: 7 }],
  ["another place", { ...claude.edit, locations: [{ path: "/etc/passwd" }] }],
  ["a second place", { ...claude.edit, locations: [...claude.edit.locations, { path: "/etc/passwd" }] }],
  ["no place", { ...claude.edit, locations: [] }],
  ["a diff of another file", { ...claude.edit, content: [{ ...claude.edit.content[0], path: "/etc/passwd" }] }],
  ["a text instead of a diff", { ...claude.edit, content: [text("x")] }],
  ["a relative path", { ...claude.read, rawInput: { file_path: "x" }, locations: [{ path: "x" }] }],
  ["a path with dots", { ...claude.read, rawInput: { file_path: "/a/../b" }, locations: [{ path: "/a/../b" }] }],
  ["a question", { ...claude.mcp, name: "AskUserQuestion", title: "AskUserQuestion" }],
  ["a plan", { ...claude.mcp, name: "ExitPlanMode", title: "ExitPlanMode" }],
  ["a server that is not named", { ...claude.mcp, _meta: undefined }],
  ["another server", { ...claude.mcp, _meta: { claudeCode: { mcpServer: { name: "file" } } } }],
  [
    "our own server",
    {
      ...claude.mcp,
      ...{ name: "mcp__skills__run_code", title: "mcp__skills__run_code" },
      _meta: { claudeCode: { mcpServer: { name: "skills" } } },
    },
  ],
])("is not certain what Claude asks for with %s", (_what, toolCall) => {
  expect(ofClaude(toolCall)).toBeUndefined();
});

test.each<[string, object]>([
  ["another command in the title", { ...opencode.bash, title: "ls" }],
  ["another kind", { ...opencode.bash, kind: "other" }],
  ["an unknown field", { ...opencode.bash, rawInput: { ...opencode.bash.rawInput, workdir: "/" } }],
  ["content", { ...opencode.bash, content: [text("x")] }],
  ["a name", { ...opencode.bash, name: "Bash" }],
  ["a directory outside", { ...opencode.bash, title: "/etc", kind: "other", rawInput: { parentDir: "/etc" } }],
  ["another file in the title", { ...opencode.edit, title: "/etc/passwd" }],
  ["several files", { ...opencode.edit, content: [...opencode.edit.content, ...opencode.edit.content] }],
  ["no diff", { ...opencode.edit, content: [] }],
  ["another address in the title", { ...opencode.fetch, title: "https://evil.org/" }],
])("is not certain what opencode asks for with %s", (_what, toolCall) => {
  expect(ofOpencode(toolCall)).toBeUndefined();
});

test.each(["/bin/sh", "/usr/bin/bash", "/opt/homebrew/bin/zsh", "zsh"])("commands of %s can be read", (shell) => {
  const command = "touch x.txt && ls";
  expect(toolUseIn(claude.bash, facts.claude, server, machine(shell))).toEqual({ tool: "Bash", command });
});

test.each(["", "/usr/bin/pwsh", "/usr/bin/fish", "/usr/bin/nu", "/tmp/notbash", "/bin/bash/x", "C:\\bash"])(
  "commands of the shell %j cannot be read, other tools can",
  (shell) => {
    expect(toolUseIn(claude.bash, facts.claude, server, machine(shell))).toBeUndefined();
    expect(toolUseIn(opencode.bash, facts.opencode, server, machine(shell))).toBeUndefined();
    expect(toolUseIn(claude.fetch, facts.claude, server, machine(shell))).toMatchObject({ tool: "WebFetch" });
  },
);
