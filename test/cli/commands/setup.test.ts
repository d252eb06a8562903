import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import path from "node:path";
import { parse } from "jsonc-parser";
import { describe, expect, test } from "vitest";
import { type CliRun, binary, runCli, runProcess, unfolded } from "../run-cli.ts";
import { useTemporaryProject } from "../temporary-project.ts";

const home = useTemporaryProject();
const wrapper = [process.execPath, binary];
const zedFile = ".config/zed/settings.json";
const settings = `// My settings
{
    "theme": "One Dark", // dark
    "agent_servers": {
        "claude-acp": { "type": "registry", "env": { "A": "b" } },
        "mine": {
            "type": "custom",
            "command": "~/bin/agent", // here
            "args": ["--acp"],
            "env": { "KEY": "1" },
        },
        "bare": { "command": "opencode" },
        "done": { "command": "acp-skills", "args": ["--", "x"] },
    },
}
`;

async function setup(...args: readonly string[]): Promise<CliRun> {
  return await runCli(["setup", ...args], { cwd: home.directory });
}

const read = (file: string): string => readFileSync(home.at(file), "utf8");
const servers = (file = zedFile): unknown => (parse(read(file)) as { agent_servers: unknown }).agent_servers;

describe("acp-skills setup zed", () => {
  test("shows the change as a diff and writes nothing", async () => {
    home.write(zedFile, settings);
    const { code, stdout, stderr } = await setup("zed");
    expect(code).toBe(0);
    expect(stdout).toContain('-            "command": "~/bin/agent", // here\n');
    expect(stdout).toContain("✓ mine is started through acp-skills\n");
    expect(stdout).toContain("✓ done is started through acp-skills already\n");
    expect(stderr).toBe("acp-skills: nothing is written yet; to do it, repeat the command with --write\n");
    expect(read(zedFile)).toBe(settings);
  });

  test("wraps commands, adds an entry beside one of the registry, and changes no other text", async () => {
    home.write(zedFile, settings);
    expect((await setup("zed", "--write")).code).toBe(0);
    const [node, script] = wrapper;
    expect(servers()).toEqual({
      "claude-acp": { type: "registry", env: { A: "b" } },
      mine: { type: "custom", command: node, args: [script, "--", home.at("bin/agent"), "--acp"], env: { KEY: "1" } },
      bare: { command: node, args: [script, "--", "opencode"] },
      done: { command: "acp-skills", args: ["--", "x"] },
      "Claude with skills": {
        type: "custom",
        command: node,
        args: [script, "--", "npx", "-y", "@agentclientprotocol/claude-agent-acp"],
        env: { A: "b" },
      },
    });
    const kept = settings.split("\n").filter((line) => !/"(?:command|args)"/.test(line) || line.includes('"done"'));
    for (const line of kept) expect(read(zedFile)).toContain(line.trimEnd().replace(/,$/, ""));
    expect(read(zedFile)).toContain("// here\n");
  });

  test("leaves alone what is wrapped already", async () => {
    home.write(zedFile, settings);
    await setup("zed", "--write");
    const once = read(zedFile);
    const { code, stdout } = await setup("zed", "--write");
    expect(code).toBe(0);
    expect(stdout).not.toContain("wrote");
    expect(read(zedFile)).toBe(once);
  });

  test("what it writes starts an agent where PATH is empty", async () => {
    const agent = home.write("agent.js", "console.log(JSON.stringify(process.argv.slice(2)))");
    home.write(zedFile, JSON.stringify({ agent_servers: { a: { command: process.execPath, args: [agent, "x"] } } }));
    await setup("zed", "--write");
    const { a } = servers() as { a: { args: string[] } };
    const run = await runProcess(a.args.slice(1), { cwd: home.directory, env: { PATH: "" } });
    expect(run.stdout).toBe('["x"]\n');
  });

  test("repairs an entry whose paths do not exist any more", async () => {
    const old = { command: "/gone/node", args: ["/gone/acp-skills/dist/cli/main.js", "--", "opencode", "acp"] };
    home.write(zedFile, JSON.stringify({ agent_servers: { old } }));
    expect((await setup("zed", "--write")).stdout).toContain("old is started through acp-skills again");
    expect(servers()).toEqual({ old: { command: wrapper[0], args: [wrapper[1], "--", "opencode", "acp"] } });
  });

  test("says which agents it cannot wrap, and exits with 3 if there is no other", async () => {
    home.write(zedFile, '{"agent_servers": {"junie": {"type": "registry"}}}');
    const { code, stdout } = await setup("zed", "--write");
    expect(code).toBe(3);
    expect(stdout).toContain("- junie is left alone: is started by Zed itself; give its command");
  });

  test("follows a link, keeps it and the mode of the file, and says what it wrote", async () => {
    home.write("dotfiles/zed.json", settings);
    chmodSync(home.at("dotfiles/zed.json"), 0o640);
    mkdirSync(home.at(".config/zed"), { recursive: true });
    symlinkSync(home.at("dotfiles/zed.json"), home.at(zedFile));
    const { stdout } = await setup("zed", "--write");
    expect(stdout).toContain("+++ ~/.config/zed/settings.json, a link to ~/dotfiles/zed.json\n");
    expect(stdout).toContain("wrote ~/dotfiles/zed.json, to which ~/.config/zed/settings.json is a link");
    expect(lstatSync(home.at(zedFile)).isSymbolicLink()).toBe(true);
    expect(statSync(home.at("dotfiles/zed.json")).mode & 0o777).toBe(0o640);
  });

  test("--json prints files, agents and the diff", async () => {
    home.write(zedFile, settings);
    const { stdout } = await setup("zed", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      editor: "zed",
      files: [{ file: home.at(zedFile), changes: true, written: false, agents: expect.any(Array) as unknown }],
    });
  });
});

describe("acp-skills setup --undo", () => {
  test("restores the very bytes, and then has nothing more to undo", async () => {
    const original = `\uFEFF${settings.replaceAll("\n", "\r\n")}`;
    home.write(zedFile, original);
    const { stdout } = await setup("zed", "--write");
    const [, backup = ""] = /backup: ~\/(.*)\n/.exec(stdout) ?? [];
    expect(read(backup)).toBe(original);
    expect(statSync(home.at(backup)).mode & 0o777).toBe(0o600);
    expect((await setup("zed", "--undo")).stdout).toContain(
      "restored ~/.config/zed/settings.json, exactly as it was\n",
    );
    expect(read(zedFile)).toBe(original);
    const again = await setup("zed", "--undo");
    expect(again).toMatchObject({ code: 3, stdout: "" });
    expect(again.stderr).toContain("There is nothing to undo");
  });

  test("takes out only the wrapping if the file was changed since", async () => {
    home.write(zedFile, settings);
    await setup("zed", "--write");
    home.write(zedFile, read(zedFile).replace("One Dark", "Ayu"));
    expect((await setup("zed", "--undo")).stdout).toContain("it was changed since, so only");
    expect(parse(read(zedFile))).toEqual(parse(settings.replace("One Dark", "Ayu").replace("~/bin", home.at("bin"))));
  });

  test("refuses if nothing of the change is left, and says where the backup is", async () => {
    home.write(zedFile, settings);
    await setup("zed", "--write");
    home.write(zedFile, "{}\n");
    const { code, stderr } = await setup("zed", "--undo");
    expect(code).toBe(3);
    expect(stderr).toMatch(/has been changed since[^]*what it was before is in .*settings\.json\.\n/);
    expect(read(zedFile)).toBe("{}\n");
  });

  test("undoes several calls at once, and deletes a file that was created", async () => {
    await setup("jetbrains", "--write", "--", "one");
    await setup("jetbrains", "--write", "--", "two");
    expect(Object.keys(servers(".jetbrains/acp.json") as object)).toEqual(["one with skills", "two with skills"]);
    expect((await setup("jetbrains", "--undo")).stdout).toContain("deleted ~/.jetbrains/acp.json");
    expect(existsSync(home.at(".jetbrains/acp.json"))).toBe(false);
  });
});

describe("a file that cannot be written", () => {
  test("leaves no record, so that there is nothing to undo", async () => {
    home.write(zedFile, settings);
    chmodSync(home.at(zedFile), 0o444);
    const { code, stderr } = await setup("zed", "--write");
    expect(code).toBe(3);
    expect(stderr).toContain("it is read-only; allow writing first: chmod u+w");
    expect(read(zedFile)).toBe(settings);
    expect((await setup("zed", "--undo")).stderr).toContain("There is nothing to undo");
  });

  test("leaves the record and the backup of the call before", async () => {
    home.write(zedFile, settings);
    await setup("zed", "--write");
    const changed = read(zedFile).replace("One Dark", "Ayu");
    home.write(zedFile, changed);
    chmodSync(home.at(zedFile), 0o444);
    expect((await setup("zed", "--write", "--", "mine")).code).toBe(3);
    chmodSync(home.at(zedFile), 0o644);
    home.write(zedFile, changed.replace("Ayu", "One Dark"));
    expect((await setup("zed", "--undo")).stdout).toContain("exactly as it was");
    expect(read(zedFile)).toBe(settings);
  });
});

describe("the other editors", () => {
  test("adds a named agent to JetBrains, and refuses a name that is taken", async () => {
    const { code, stdout } = await setup("jetbrains", "--write", "--name", "Mine", "--", "npx", "agent");
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("Mine is added") as unknown });
    const again = await setup("jetbrains", "--write", "--name", "Mine", "--", "x");
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('JetBrains already has an agent named "Mine"; choose another with --name');
  });

  test("wraps the agents of three extensions of VS Code, in every product that has some", async () => {
    const entry = { command: "a", args: ["b"] };
    const list = [{ id: "x", name: "X", ...entry }];
    const text = JSON.stringify({ "acp.agents": { A: entry }, agent_servers: { B: entry }, "vscodeAcp.agents": list });
    const files = [".config/Code/User/settings.json", ".config/VSCodium/User/settings.json"];
    for (const file of files) home.write(file, text);
    home.write(".config/Cursor/User/settings.json", "{}");
    expect((await setup("vscode", "--write")).code).toBe(0);
    const wrapped = { command: wrapper[0], args: [wrapper[1], "--", "a", "b"] };
    for (const file of files)
      expect(JSON.parse(read(file))).toEqual({
        "acp.agents": { A: wrapped },
        agent_servers: { B: wrapped },
        "vscodeAcp.agents": [{ id: "x", name: "X", ...wrapped }],
      });
  });

  test("wraps the agents of the project at hand for VS Code, too", async () => {
    home.write(".vscode/settings.json", '{"acp.agents": {"A": {"command": "a"}}}');
    expect((await setup("vscode", "--write")).code).toBe(0);
    expect(JSON.parse(read(".vscode/settings.json"))).toEqual({
      "acp.agents": { A: { command: wrapper[0], args: [wrapper[1], "--", "a"] } },
    });
  });

  test("adds each known agent that is on PATH to a VS Code whose extension has only its own", async () => {
    for (const name of ["gemini", "goose", "not-known"]) chmodSync(home.write(`bin/${name}`, "#!/bin/sh\n"), 0o755);
    const user = ".local/share/code-server/User";
    mkdirSync(home.at(user), { recursive: true });
    home.write(".vscode/settings.json", "{}");
    const inPath = async (...args: readonly string[]) =>
      await runCli(["setup", "vscode", ...args], { cwd: home.directory, env: { PATH: home.at("bin") } });
    expect((await inPath()).stdout).toContain("✓ gemini with skills is added");
    expect(existsSync(home.at(user, "settings.json"))).toBe(false);
    expect((await inPath("--write")).code).toBe(0);
    const entry = (...words: readonly string[]) => ({ command: wrapper[0], args: [wrapper[1], "--", ...words] });
    expect(JSON.parse(read(`${user}/settings.json`))).toEqual({
      "acp.agents": {
        "gemini with skills": entry(home.at("bin/gemini"), "--acp"),
        "goose with skills": entry(home.at("bin/goose"), "acp"),
      },
    });
    expect(read(".vscode/settings.json")).toBe("{}");
    expect((await inPath("--write")).stdout.match(/already/g)).toHaveLength(2);
    expect((await inPath("--undo")).stdout).toContain(`deleted ~/${user}/settings.json`);
  });

  test("prints what to enter in the settings of Obsidian's plugin, which it does not write", async () => {
    const { code, stdout } = await setup("obsidian", "--", "mine", "--acp");
    expect(code).toBe(0);
    expect(stdout).toContain(`Path:       ${process.execPath}\n`);
    expect(stdout.replace(/\s+/g, " ")).toContain(`Arguments: ${binary} -- mine --acp `);
    expect((await setup("obsidian", "--write")).code).toBe(2);
  });

  test("keeps each form in which acpx has commands", async () => {
    const agents = { a: { argv: ["x", "y z"] }, b: { command: "x", args: ["y"] }, c: { command: "npx 'my agent'" } };
    home.write(".acpx/config.json", JSON.stringify({ agents }));
    expect((await setup("acpx", "--write")).code).toBe(0);
    expect(JSON.parse(read(".acpx/config.json"))).toEqual({
      agents: {
        a: { argv: [...wrapper, "--", "x", "y z"] },
        b: { command: wrapper[0], args: [wrapper[1], "--", "x", "y"] },
        c: { command: `${wrapper.join(" ")} -- npx "my agent"` },
      },
    });
    expect((await setup("acpx")).stdout.match(/already/g)).toHaveLength(3);
  });
});

describe("bad input", () => {
  test.each([
    [["zedd"], "unknown editor zedd; did you mean zed?"],
    [["emacs"], "unknown editor emacs; did you mean agent-shell?"],
    [[], "missing EDITOR: zed, jetbrains"],
    [["zed", "--"], "missing agent after --"],
    [["zed", "--name", "x"], "--name is the name of an agent to add"],
    [["zed", "--undo", "--write"], "--undo takes neither --write nor an agent"],
    [["avante", "--", "x"], "avante.nvim takes no agents from here"],
  ])("%j is a usage error", async (args, message) => {
    const { code, stderr } = await setup(...args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) as unknown });
  });

  test("an editor without a configuration: says where it looked and what to do", async () => {
    const { code, stderr } = await setup("zed", "--write");
    expect(code).toBe(3);
    expect(stderr).toContain("Zed has no configuration here (looked for ~/.config/zed/settings.json)");
    expect(stderr).toContain("acp-skills setup zed --write -- AGENT");
    expect((await setup("avante")).stderr).toContain("looked for ~/.config/nvim");
  });

  test("no agents: prints an entry that can be pasted", async () => {
    home.write(".jetbrains/acp.json", '{"agent_servers": {}}');
    const { code, stdout, stderr } = await setup("jetbrains", "--write");
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toEqual({
      agent_servers: {
        "claude-agent-acp with skills": {
          command: wrapper[0],
          args: [wrapper[1], "--", "npx", "-y", "@agentclientprotocol/claude-agent-acp"],
        },
      },
    });
    expect(stderr).toContain("JetBrains has no agents in ~/.jetbrains/acp.json");
  });

  test.each([
    ["zed", zedFile, '{\n  "agent_servers": {,\n}\n', "2:21: not JSON (ValueExpected)"],
    ["zed", zedFile, "[]", "1:1: an object is expected"],
    ["zed", zedFile, '{\n  "agent_servers": 3\n}', '2:20: "agent_servers" is not an object'],
    ["zed", zedFile, '{"agent_servers": {\n"a": {"command": "x"},\n"a": {"command": "y"}}}', '3:1: "a" is here twice'],
    ["zed", zedFile, '{"agent_servers": {},\n"agent_servers": {}}', '2:1: "agent_servers" is here twice'],
    [
      "acpx",
      ".acpx/config.json",
      '{"agents": {"a": {"command": "x",\n"command": "y"}}}',
      '2:1: "command" is here twice',
    ],
    ["acpx", ".acpx/config.json", '{\n  // mine\n  "agents": {}\n}\n', "2:3: not JSON (InvalidCommentToken)"],
    ["acpx", ".acpx/config.json", '{\n  "agents": {},\n}\n', "3:1: not JSON (PropertyNameExpected)"],
  ])("%s: a file that cannot be understood is left as it is", async (editor, file, text, place) => {
    home.write(file, text);
    const { code, stderr } = await setup(editor, "--write");
    expect(code).toBe(3);
    expect(stderr).toContain(`acp-skills: ~/${file}:${place}`);
    expect(stderr).toContain("Nothing was changed.");
    expect(stderr).toMatch(/> \d \|/);
    expect(read(file)).toBe(text);
  });

  test("two settings of one name that are none of ours are not our concern", async () => {
    home.write(zedFile, '{"theme": 1, "theme": 2, "agent_servers": {"a": {"command": "x"}}}');
    expect((await setup("zed", "--write")).code).toBe(0);
    expect(read(zedFile)).toMatch(/^\{"theme": 1, "theme": 2, /);
  });

  test("a file that is not UTF-8, too large, a directory, or a link to nothing", async () => {
    home.write(zedFile, Buffer.from([0x7b, 0xff, 0x7d]));
    expect((await setup("zed")).stderr).toContain("it is not UTF-8");
    home.write(zedFile, " ".repeat(4 * 1024 * 1024 + 1));
    expect((await setup("zed")).stderr).toContain("the limit is 4194304");
    mkdirSync(home.at(".jetbrains/acp.json"), { recursive: true });
    expect((await setup("jetbrains")).stderr).toContain("it is not a file");
    mkdirSync(home.at(".acpx"));
    symlinkSync("nowhere", home.at(".acpx/config.json"));
    expect((await setup("acpx", "--write", "--", "x")).stderr).toContain("it is a link to a file that does not exist");
  });
});

describe("a link that came with a project", () => {
  const entry = '{"acp.agents": {"A": {"command": "a"}}}';
  const inProject = (...args: string[]): Promise<CliRun> =>
    runCli(["setup", ...args], { cwd: home.at("project"), env: { HOME: home.directory } });

  test.each([
    ["the file", ".vscode/settings.json", "../../secret/settings.json"],
    ["its directory", ".vscode", "../secret"],
  ])("is not followed by setup: %s", async (_what, link, target) => {
    home.write("secret/settings.json", entry);
    mkdirSync(home.at("project", path.dirname(link)), { recursive: true });
    symlinkSync(target, home.at("project", link));
    for (const args of [["vscode"], ["vscode", "--write"]]) {
      const { code, stderr } = await inProject(...args);
      expect(unfolded(stderr)).toContain(
        `settings.json is not changed: a link of this project leads to ${home.at("secret")}`,
      );
      expect(code).toBe(3);
    }
    expect(read("secret/settings.json")).toBe(entry);
  });

  test("is not followed by --undo either, also from elsewhere", async () => {
    home.write("project/.vscode/settings.json", entry);
    expect((await inProject("vscode", "--write")).code).toBe(0);
    const written = read("project/.vscode/settings.json");
    home.write("secret/settings.json", written);
    rmSync(home.at("project/.vscode"), { recursive: true });
    symlinkSync("../secret", home.at("project/.vscode"));
    expect((await inProject("vscode", "--undo")).stderr).toContain("a link of this project leads to");
    expect((await setup("vscode", "--undo")).stderr).toContain(`leads to ${home.at("secret/settings.json")} now`);
    expect(read("secret/settings.json")).toBe(written);
  });
});
