import { execFile, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

// Makes the pictures of the README: the skill browser over the skills of the examples, and the demo. Needs Chromium.

const root = fileURLToPath(new URL("..", import.meta.url));
const pictures = join(root, "examples/pictures");
const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const viewport = { width: 1200, height: 720 };

await mkdir(pictures, { recursive: true });
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const home = await mkdtemp(join(tmpdir(), "acp-skills-pictures-"));
try {
  await pictureBrowser();
  await pictureDemo();
} finally {
  await browser.close();
  await rm(home, { recursive: true, force: true });
}

async function pictureBrowser() {
  const project = join(home, "project");
  const skills = join(project, ".agents/skills");
  await cp(join(root, "examples/skills"), skills, { recursive: true });
  await cp(join(root, "examples/actions"), skills, { recursive: true });
  const environment = { ...process.env, HOME: home, ACP_SKILLS_HOME: join(home, "data") };
  const server = spawn(process.execPath, [join(root, "dist/cli/main.js"), "browse", "--no-open"], {
    cwd: project,
    env: environment,
    stdio: ["pipe", "pipe", "pipe"],
  });
  try {
    /** @type {string} */
    const address = await new Promise((resolve, reject) => {
      let said = "";
      const listen = (/** @type {Buffer} */ chunk) => {
        said += chunk.toString();
        const [found] = /http:\/\/\S+/.exec(said) ?? [];
        if (found !== undefined) resolve(found);
      };
      server.stdout.on("data", listen);
      server.stderr.on("data", listen);
      server.once("exit", () => reject(new Error(`acp-skills browse ended: ${said}`)));
    });
    const context = await browser.newContext({ viewport, colorScheme: "light", deviceScaleFactor: 1.5 });
    const page = await context.newPage();
    await page.goto(address);
    await page.getByText("rows-clean").first().waitFor();
    await show(page, "rows-clean", { theme: "light", file: "browser.png" });
    await show(page, "status-fetch/permissions", { theme: "dark", file: "permissions.png" });
    await context.close();
  } finally {
    server.kill("SIGINT");
  }
}

/**
 * @param {import("playwright-core").Page} page
 * @param {string} place
 * @param {{ theme: "light" | "dark", file: string }} picture
 */
async function show(page, place, { theme, file }) {
  await page.emulateMedia({ colorScheme: theme });
  await page.evaluate((hash) => (location.hash = hash), `#/skills/${place}`);
  await page
    .getByRole("heading", { name: place.split("/")[0] ?? "" })
    .first()
    .waitFor();
  await page.evaluate(() => {
    const { activeElement } = document;
    if (activeElement?.shadowRoot?.activeElement instanceof HTMLElement) activeElement.shadowRoot.activeElement.blur();
  });
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(pictures, file) });
}

async function pictureDemo() {
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, "examples/demo.js")], { cwd: root });
  const context = await browser.newContext({ viewport: { width: 820, height: 100 }, deviceScaleFactor: 1.5 });
  const page = await context.newPage();
  await page.setContent(
    "<style>body{margin:0;background:#15171a;color:#e7e8ea}pre{margin:0;padding:20px 24px;font:13px/1.5 monospace;white-space:pre-wrap}</style><pre></pre>",
  );
  await page.locator("pre").evaluate((pre, text) => (pre.textContent = text), withoutTable(stdout));
  await page.screenshot({ path: join(pictures, "demo.png"), fullPage: true });
  await context.close();
}

/** What happened, without the table that sums it up. @param {string} text */
function withoutTable(text) {
  return text.slice(0, text.indexOf("\nstep ")).trim();
}
