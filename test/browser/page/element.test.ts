import { build } from "esbuild";
import { expect, test } from "vitest";
import { pageOf, startFakeServer } from "./fake-server.ts";
import { inventRows } from "./invented-rows.ts";
import { closeAfterwards, describeInBrowser, openPage } from "./open-page.ts";
import type { ReadableStore, SkillBrowserElement } from "../../../src/browser/page/element-types.ts";

const embedded = pageOf("acp-skill-browser.js", `<main id="host"></main>`);

describeInBrowser("<acp-skill-browser>", () => {
  test("shows the skills of a server in a page of others, and leaves its address alone", async () => {
    const server = closeAfterwards(await startFakeServer(inventRows(30), embedded));
    const page = await openPage(`${server.address}/?q=theirs#/skills/theirs`);
    await page.evaluate(() => {
      const element = document.createElement("acp-skill-browser");
      element.server = "";
      document.querySelector("#host")?.append(element);
    });
    await page.getByRole("option", { name: "skill-00003" }).click();
    await page.getByRole("region", { name: "Skill", exact: true }).waitFor();
    await page.getByText("30 of 30 skills").waitFor();
    expect(page.url()).toBe(`${server.address}/?q=theirs#/skills/theirs`);
  });

  test("shows a store, whichever comes first, the property or the script, and follows it", async () => {
    const server = closeAfterwards(await startFakeServer([], pageOf()));
    const page = await openPage(server.address);
    await page.evaluate(() => {
      const listeners = new Set<() => void>();
      const store = {
        skills: [{ name: "told", description: "An agent told this." }],
        subscribe: (listener: () => void) => {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
      };
      const element = document.createElement("acp-skill-browser");
      element.store = store;
      document.body.append(element);
      Object.assign(globalThis, { told: { store, listeners } });
    });
    await page.evaluate(`import("${server.address}/acp-skill-browser.js")`);
    await page.getByRole("option", { name: "An agent told this." }).waitFor();
    expect(await page.getByRole("link").count()).toBe(0);
    await page.evaluate(() => {
      const { store, listeners } = (globalThis as unknown as Told).told;
      store.skills = [...store.skills, { name: "later", description: "Told later." }];
      for (const listener of listeners) listener();
    });
    await page.getByRole("option", { name: "Told later." }).waitFor();
  });

  test("leaves nothing behind when it is removed, moved and connected again", async () => {
    const server = closeAfterwards(await startFakeServer(inventRows(30), embedded));
    const page = await openPage(server.address);
    await page.evaluate(() => {
      const element = document.createElement("acp-skill-browser");
      element.server = "";
      const host = document.querySelector("#host");
      // As React does in its strict mode, and when keys change.
      for (let round = 0; round < 20; round++) {
        host?.append(element);
        element.remove();
      }
      host?.append(element);
    });
    await page.getByRole("option", { name: "skill-00000" }).waitFor();
    // Node sees only after five seconds that a request ended which was cancelled as it arrived.
    await expect.poll(() => server.listeners(), { timeout: 10_000 }).toBe(1);
    expect(await page.getByRole("listbox").count()).toBe(1);
    await page.evaluate(() => document.querySelector("acp-skill-browser")?.remove());
    await expect.poll(() => server.listeners()).toBe(0);
  });

  test("has types for those who use it", async () => {
    const store: ReadableStore = { skills: [], subscribe: () => () => undefined };
    const use = (element: SkillBrowserElement): void => {
      element.store = store;
      element.server = null;
    };
    expect(use).toBeTypeOf("function");
    const { outputFiles } = await build({
      stdin: { contents: `import "acp-skills/browser";`, resolveDir: process.cwd() },
      bundle: true,
      format: "esm",
      write: false,
    });
    expect(outputFiles[0]?.text).toContain("acp-skill-browser");
  });
});

interface Told {
  readonly told: { readonly store: { skills: object[] }; readonly listeners: ReadonlySet<() => void> };
}
