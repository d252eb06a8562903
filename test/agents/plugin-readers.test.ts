import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { newToken, toTokenDigest } from "../../src/wire/http.ts";
import { type OpenServer, openServer } from "../serve/open-server.ts";
import { install } from "./install.ts";

const text = "---\nname: tools\ndescription: Does tools.\n---\n# tools\n";
const skills = {
  "tools/SKILL.md": text,
  "tools/scripts/run.sh": "#!/bin/sh\necho hello\n",
  "other/SKILL.md": text.replaceAll("tools", "other"),
  "secret/SKILL.md": text.replaceAll("tools", "secret"),
};
const token = newToken();
let server: OpenServer;
let home: string;

beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "acp-skills-plugins-")));
  server = await openServer({
    skills,
    access: { default: "private", public: ["tools", "other"], restricted: [], private: [] },
    provider: { name: "Example", domain: "com.example" },
    shares: [{ name: "team", tokenDigest: toTokenDigest(token), skills: ["secret"] }],
  });
});
afterEach(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

const system = `${process.platform}-${process.arch}`;

/** Each reader of plugins: its program, and how it installs one. */
const readers = {
  "Claude Code": {
    program: async () => join(await install("claudeCode"), `@anthropic-ai/claude-code-${system}/claude`),
    install: ["plugin", "install"],
  },
  "Copilot CLI": {
    program: async () => join(await install("copilot"), `@github/copilot-${system}/copilot`),
    install: ["plugin", "install"],
  },
  Codex: {
    program: async () => join(await install("codexCli"), ".bin/codex"),
    install: ["plugin", "add"],
  },
} as const;

test.each(Object.entries(readers))("%s installs a skill from the repository of plugins", async (_name, reader) => {
  const program = await reader.program();
  await run(program, ["plugin", "marketplace", "add", `${server.url}/plugins.git`]);
  await run(program, [...reader.install, "tools@skills-example-com"]);
  expect(installed("tools")).toEqual({ "SKILL.md": text, "scripts/run.sh": skills["tools/scripts/run.sh"] });
});

test.each(Object.entries(readers))("%s installs a skill of a share", async (_name, reader) => {
  const program = await reader.program();
  await run(program, ["plugin", "marketplace", "add", `${server.url}/s/${token}/plugins.git`]);
  await run(program, [...reader.install, "secret@skills-example-com-team"]);
  expect(installed("secret")).toEqual({ "SKILL.md": skills["secret/SKILL.md"] });
});

test("Claude Code adds the catalog by its URL, and updates a skill that was edited", async () => {
  const program = await readers["Claude Code"].program();
  await run(program, ["plugin", "marketplace", "add", `${server.url}/marketplace.json`]);
  await run(program, ["plugin", "install", "tools@skills-example-com"]);
  expect(installed("tools")).toMatchObject({ "SKILL.md": text });
  const edited = `${text}More.\n`;
  server.writeFile("tools/SKILL.md", edited);
  await expect
    .poll(async () => (await run(program, ["plugin", "update", "tools@skills-example-com"])) && found(edited), {
      timeout: 60_000,
      interval: 1_000,
    })
    .toBe(true);
});

async function run(program: string, args: readonly string[]): Promise<string> {
  const codexHome = join(home, ".codex");
  await mkdir(codexHome, { recursive: true });
  const { stdout, stderr } = await promisify(execFile)(program, [...args], {
    cwd: home,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      CODEX_HOME: codexHome,
      LC_ALL: "C.UTF-8",
      NO_COLOR: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    },
    timeout: 120_000,
  });
  return stdout + stderr;
}

/** The files of a skill where the program keeps installed plugins, not where it keeps the repository. */
function installed(name: string): Readonly<Record<string, string>> {
  const files = filesBelow(home).filter(
    (path) => path.includes(`/skills/${name}/`) && !/\/marketplaces\//.test(path) && !path.includes("/.git/"),
  );
  return Object.fromEntries(
    files.map((path) => [
      path.slice(path.lastIndexOf(`/skills/${name}/`) + name.length + 9),
      readFileSync(path, "utf8"),
    ]),
  );
}

function found(content: string): boolean {
  return filesBelow(home).some(
    (path) => path.endsWith("/skills/tools/SKILL.md") && readFileSync(path, "utf8") === content,
  );
}

function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}
