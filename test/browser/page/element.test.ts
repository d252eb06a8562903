import { build } from "esbuild";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
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

  test("is no part of the page's own structure: no main, no banner, no title of its own, and nothing for axe", async () => {
    const server = closeAfterwards(await startFakeServer(inventRows(5), embedded));
    const page = await openPage(server.address);
    await page.evaluate(() => {
      document.documentElement.lang = "en";
      document.title = "Host";
      const title = document.createElement("h1");
      title.textContent = "Host";
      const element = document.createElement("acp-skill-browser");
      element.server = "";
      document.querySelector("#host")?.append(title, element);
    });
    await page.getByRole("option", { name: "skill-00003" }).click();
    await page.getByRole("region", { name: "Skill", exact: true }).waitFor();
    expect(await page.getByRole("main").count()).toBe(1);
    expect(await page.getByRole("banner").count()).toBe(0);
    expect(await page.title()).toBe("Host");
    await expectAccessible(page);
  });

  test("has the colours of its place, or those that its attribute says", async () => {
    const server = closeAfterwards(await startFakeServer(inventRows(1), embedded));
    const page = await openPage(server.address);
    await page.evaluate(() => {
      const element = document.createElement("acp-skill-browser");
      element.server = "";
      document.querySelector("#host")?.append(element);
    });
    await page.getByRole("option").first().waitFor();
    const paper = (): Promise<string> =>
      page.locator(".browser").evaluate((element) => getComputedStyle(element).backgroundColor);
    const [light, dark] = ["rgb(251, 251, 249)", "rgb(21, 23, 26)"];
    expect(await paper()).toBe(light);
    await page.evaluate(() => (document.documentElement.style.colorScheme = "dark"));
    await expect.poll(paper).toBe(dark);
    await page.evaluate(() => {
      const element = document.querySelector("acp-skill-browser");
      if (element !== null) element.theme = "light";
    });
    await expect.poll(paper).toBe(light);
    expect(await page.getByRole("button", { name: "Theme" }).count()).toBe(0);
  });

  test("notifies its page of what is opened and what is to be used, shows all that a store has, and who did not ask for skills", async () => {
    const server = closeAfterwards(await startFakeServer([], embedded));
    const page = await openPage(server.address);
    await page.evaluate(() => {
      const told: unknown[] = [];
      Object.assign(globalThis, { told });
      for (const type of ["acp-skill-open", "acp-skill-invoke"] as const)
        document.body.addEventListener(type, ({ detail }) => told.push([type, detail]));
      const element = document.createElement("acp-skill-browser");
      element.setAttribute("invokable", "");
      element.store = {
        skills: [
          {
            ...{ name: "pdf", description: "Reads PDFs.", agent: "claude", command: "$pdf", version: "0.0.0" },
            ...{ license: "MIT", compatibility: "Needs poppler", allowedTools: ["Read", "Bash"] },
          },
        ],
        capabilities: [
          { agent: "claude", optedIn: true },
          { agent: "gemini", optedIn: false },
        ],
        subscribe: () => () => undefined,
      };
      document.querySelector("#host")?.append(element);
    });
    await page.getByText("did not ask for them with").waitFor();
    expect(await page.locator(".unread").textContent()).toMatch(/gemini$/);
    await page.getByRole("option", { name: "pdf" }).click();
    for (const fact of ["MIT", "Needs poppler", "Read, Bash", "/$pdf"])
      await page.getByText(fact, { exact: true }).waitFor();
    expect(await page.getByText("version 0.0.0").count()).toBe(0);
    await page.getByRole("button", { name: "Use this skill" }).click();
    const detail = { name: "pdf", agent: "claude", command: "$pdf" };
    expect(await page.evaluate("told")).toEqual([
      ["acp-skill-open", detail],
      ["acp-skill-invoke", detail],
    ]);
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
