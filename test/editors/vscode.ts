import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { chromium, type FrameLocator, type Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { modernNode } from "../agents/install.ts";
import type { Playground } from "../agents/playground.ts";
import { findChromium } from "../browser/page/find-chromium.ts";
import { cache, installOnce } from "./debian.ts";
import { installPlugins, pluginFolder } from "./plugins.ts";
import { wrapper } from "./wrapped-chat.ts";

const server = "code-server@4.139.1";
const extension = "formulahendry.acp-client-0.2.0";
/** What its native modules are compiled with. */
const libraries = ["krb5-gssapi", "libsecret-1", "x11", "xkbfile"];
const executable = findChromium();
const folder = join(cache, server);

/** VS Code in a browser. */
export interface VsCode {
  readonly process: number | undefined;
  readonly page: Page;
  /** The chat of the extension. */
  readonly chat: FrameLocator;
}

/** Installs VS Code and its extension ACP Client; returns the reason if that is impossible. */
export async function installVsCode(): Promise<string | undefined> {
  const missing = await install();
  if (missing !== undefined) console.warn(`Not tested in VS Code: ${missing}.`);
  return missing;
}

async function install(): Promise<string | undefined> {
  if (process.platform !== "linux") return "it is installed on Linux only";
  if (executable === undefined) return "no Chromium was found";
  for (const library of libraries)
    if (spawnSync("pkg-config", ["--exists", library]).status !== 0) return `pkg-config does not find ${library}`;
  const env = { ...process.env, PATH: [dirname(await modernNode()), process.env["PATH"]].join(delimiter) };
  const run = (cwd: string, words: readonly string[]): Promise<unknown> =>
    promisify(execFile)(words[0] ?? "", words.slice(1), { cwd, env, maxBuffer: 64 * 1024 * 1024 });
  const failure = await installOnce(folder, async (draft) => {
    await writeFile(join(draft, "package.json"), '{"private":true}');
    // npm 11 does not run the script that builds it.
    await run(draft, ["npx", "--yes", "npm@10", "install", "--no-audit", "--no-fund", server]);
  });
  if (failure !== undefined) return `${server} could not be installed: ${failure}`;
  return await installPlugins(["vscode-acp"], async (draft) => {
    await run(draft, ["npm", "ci", "--no-audit", "--no-fund"]);
    await run(draft, ["npm", "run", "compile"]);
  });
}

/** Writes the person's settings; the extension is installed in the playground's home. */
export async function configureVsCode({ home }: Playground, settings: object): Promise<void> {
  const data = join(home, ".local/share/code-server");
  const quiet = {
    "security.workspace.trust.enabled": false,
    "telemetry.telemetryLevel": "off",
    "workbench.startupEditor": "none",
  };
  await mkdir(join(data, "User"), { recursive: true });
  await writeFile(join(data, "User/settings.json"), JSON.stringify({ ...quiet, ...settings }, undefined, 2));
  const target = join(data, "extensions", extension);
  await cp(pluginFolder("vscode-acp"), target, {
    recursive: true,
    filter: (file) => file !== join(pluginFolder("vscode-acp"), "node_modules"),
  });
}

/** `acp-skills setup vscode --write`, as the person runs it. */
export async function setUpVsCode({ home, project }: Playground): Promise<void> {
  const env = { PATH: process.env["PATH"], HOME: home };
  const words = [wrapper, "setup", "vscode", "--write"];
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: project, env });
  expect(stdout).toContain("is started through acp-skills");
}

/** Starts VS Code, opens the project in a browser, and connects to an agent; both end with the test. */
export async function startVsCode(playground: Playground, agent: string): Promise<VsCode> {
  const { home, project, temporary } = playground;
  const program = join(folder, "node_modules/code-server/out/node/entry.js");
  const quiet = ["--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"];
  const child = spawn(
    await modernNode(),
    [program, "--auth", "none", "--bind-addr", "127.0.0.1:0", ...quiet, project],
    {
      cwd: project,
      // Without a gallery it looks for no extensions.
      env: {
        PATH: [dirname(await modernNode()), process.env["PATH"]].join(delimiter),
        HOME: home,
        TMPDIR: temporary,
        EXTENSIONS_GALLERY: '{"serviceUrl":""}',
      },
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  onTestFinished(async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  const address = await addressOf(createInterface({ input: child.stdout }));
  const browser = await chromium.launch({
    ...(executable !== undefined && { executablePath: executable }),
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  page.setDefaultTimeout(90_000);
  await page.goto(`${address}?folder=${encodeURIComponent(project)}`);
  await page.getByRole("tab", { name: "ACP Client" }).click();
  const row = page.getByRole("treeitem", { name: agent });
  await row.hover();
  await row.getByRole("button", { name: "ACP: Connect to Agent" }).click();
  const chat = page.frameLocator("iframe.webview").frameLocator("iframe#active-frame");
  return { process: child.pid, page, chat };
}

async function addressOf(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) {
    const [, address] = /listening on (http:\S+)/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error("code-server ended before it listened.");
}
