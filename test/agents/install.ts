import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** Too large for the project's dependencies, so they are cached here; delete the folder to reinstall them. */
const cache = join(tmpdir(), "acp-skills-agents");

/** The versions that the tests were written for; raise one to test a newer agent. */
const packages = {
  claude: "@agentclientprotocol/claude-agent-acp@0.101.0",
  opencode: "opencode-ai@1.18.33",
  // Its package for this platform is its whole program.
  kilo: `@kilocode/cli-${process.platform === "win32" ? "windows" : process.platform}-${process.arch}@7.7.9`,
  codex: "@agentclientprotocol/codex-acp@2.6.0",
  codexOld: "@zed-industries/codex-acp@0.16.0",
  gemini: "@google/gemini-cli@0.61.0",
  qwen: "@qwen-code/qwen-code@0.24.4",
  copilot: "@github/copilot@1.0.102",
  kimi: "@moonshot-ai/kimi-code@2.1.0",
  pi: "pi-acp@0.0.34 @earendil-works/pi-coding-agent@0.87.1",
  acpx: "acpx@0.19.1",
  // What npx takes on Node 20, and on Node 22 and newer.
  skills1_5: "skills@1.5.18",
  skills1_7: "skills@1.7.4",
  inspector: "@modelcontextprotocol/inspector@2.12.0",
  claudeCode: "@anthropic-ai/claude-code@2.1.330",
  codexCli: "@openai/codex@0.169.0",
  node: `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}@24`,
} as const;

/** The directory of a package, which may not be installed yet. */
export function modulesOf(name: keyof typeof packages): string {
  return join(cache, packages[name].replaceAll("/", "+"), "node_modules");
}

/** Installs one or more packages into the cache unless they are installed; returns their `node_modules`. */
export async function install(name: keyof typeof packages): Promise<string> {
  const modules = modulesOf(name);
  const folder = dirname(modules);
  if (existsSync(modules)) return modules;
  await mkdir(cache, { recursive: true });
  // Renamed into place when complete, so that an interrupted installation is never used.
  const draft = await mkdtemp(join(cache, "draft-"));
  await writeFile(join(draft, "package.json"), '{"private":true}');
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  await promisify(execFile)(
    npm,
    ["install", "--no-audit", "--no-fund", "--loglevel=error", ...packages[name].split(" ")],
    {
      cwd: draft,
      shell: process.platform === "win32",
    },
  );
  await rename(draft, folder).catch(async (error: unknown) => {
    await rm(draft, { recursive: true, force: true });
    if (!existsSync(modules)) throw error;
  });
  return modules;
}

/** The path of Node 22 or newer, for agents that need it: this one, or one from npm. */
export async function modernNode(): Promise<string> {
  if (Number(process.versions.node.split(".", 1)[0]) >= 22) return process.execPath;
  const [name = ""] = packages.node.split("@", 1);
  return join(await install("node"), name, "bin", process.platform === "win32" ? "node.exe" : "node");
}
