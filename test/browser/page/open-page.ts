import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, afterEach, describe, expect } from "vitest";
import { findChromium } from "./find-chromium.ts";

const executable = findChromium();
const isRequired = process.env.ACP_SKILLS_REQUIRE_BROWSER === "1";

/** Tests in a real browser; without one they are skipped, unless `ACP_SKILLS_REQUIRE_BROWSER=1` makes that a failure. */
export const describeInBrowser = describe.skipIf(executable === undefined && !isRequired);

if (executable === undefined && !isRequired)
  console.warn("No Chromium was found: the tests of the skill browser are skipped.");

let running: Promise<Browser> | undefined;
const complaints: string[] = [];
const opened: Page[] = [];
const servers: { close(): Promise<void> }[] = [];

/** Closes a server at the end of the test, after the pages that it serves. */
export function closeAfterwards<Server extends { close(): Promise<void> }>(server: Server): Server {
  servers.push(server);
  return server;
}

async function launch(): Promise<Browser> {
  if (executable === undefined) throw new Error("ACP_SKILLS_REQUIRE_BROWSER=1, and no Chromium was found.");
  running ??= chromium.launch({ executablePath: executable, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  return running;
}

/**
 * Opens an address in a new context. The test fails on any console error or warning, page error, violation of the policy, or request to
 * another origin, at its end (`allow` names what it provokes itself).
 */
export async function openPage(
  address: string,
  { allow, ...options }: BrowserContextOptions & { allow?: RegExp } = {},
): Promise<Page> {
  const browser = await launch();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  opened.push(page);
  const complain = (text: string): void => {
    if (allow?.test(text) !== true) complaints.push(text);
  };
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complain(`console ${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => {
    complain(`page error: ${error.message}`);
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (["http:", "https:", "ws:", "wss:"].includes(url.protocol) && url.origin !== new URL(address).origin)
      complain(`foreign request: ${request.url()}`);
  });
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy violation: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  await page.goto(address);
  return page;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((page) => page.context().close()));
  await Promise.all(servers.splice(0).map((server) => server.close()));
  expect(complaints.splice(0)).toEqual([]);
});

afterAll(async () => {
  const browser = await running;
  running = undefined;
  await browser?.close();
});
