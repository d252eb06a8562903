import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { startFakeServer, type FakeServer } from "./fake-server.ts";
import { inventRow, inventRows } from "./invented-rows.ts";
import { closeAfterwards, describeInBrowser, openPage } from "./open-page.ts";

const serve = async (count: number): Promise<FakeServer> => closeAfterwards(await startFakeServer(inventRows(count)));
const row = (page: Page, name: string): Locator => page.getByRole("option", { name });
const count = (page: Page): Locator => page.locator(".count-line p");

describeInBrowser("the list of skills", () => {
  test("shows name, description, kind, source, state and cost of each skill", async () => {
    const { address } = await serve(30);
    const page = await openPage(address);
    await row(page, "skill-00004").waitFor();
    expect(await row(page, "skill-00004").innerText()).toMatch(
      /action\s+skill-00004\s+\.claude\/skills\s+Checks traces[^]*Needs approval\s+448 tokens/i,
    );
    await count(page).getByText("30 of 30 skills").waitFor();
  });

  test("shows the ends of long places, which distinguish them", async () => {
    const place = (end: string): string => `~/${"a-long-name/".repeat(12)}${end}`;
    const rows = ["one", "two", "one", "two"].map((end, index) => inventRow(index, { source: place(end) }));
    const { address } = closeAfterwards(await startFakeServer(rows));
    const page = await openPage(address);
    const isEndInView = (selector: string, end: string): Promise<boolean> =>
      page
        .locator(selector, { hasText: end })
        .first()
        .evaluate((element) => {
          const range = document.createRange();
          const text = element.querySelector("bdi")?.firstChild as Text;
          range.setStart(text, text.length - 3);
          range.setEnd(text, text.length);
          const [shown, all] = [range.getBoundingClientRect(), element.getBoundingClientRect()];
          return shown.width > 0 && shown.left >= all.left && shown.right <= all.right + 1;
        });
    await page.getByRole("checkbox").first().waitFor();
    for (const end of ["one", "two"])
      for (const selector of [".row .source", ".facet .value"]) expect(await isEndInView(selector, end)).toBe(true);
  });

  test("leaves out facets that narrow nothing, with their column", async () => {
    const rows = [1, 2, 3].map((index) =>
      inventRow(index, { source: `place-${index}`, state: "ok", kind: "action", namespace: `n${index}` }),
    );
    const facts = ["license", "allowedTools", "environment"];
    const plain = rows.map((row) => Object.fromEntries(Object.entries(row).filter(([key]) => !facts.includes(key))) as unknown as typeof row); // prettier-ignore
    const { address } = closeAfterwards(await startFakeServer(plain));
    const page = await openPage(address);
    await row(page, "skill-00001").waitFor();
    await page.locator(".list-pane:has(.facets:empty)").waitFor();
    expect(await page.getByRole("checkbox").count()).toBe(0);
    expect(await page.locator(".facet-pane").isVisible()).toBe(false);
  });

  test("finds a skill by the name of its folder, too", async () => {
    const rows = [inventRow(1, { folder: "renamed-folder" }), inventRow(2)];
    const { address } = closeAfterwards(await startFakeServer(rows));
    const page = await openPage(address);
    await page.getByRole("searchbox").fill("renamed-folder");
    await count(page).getByText("1 of 2 skills").waitFor();
    await row(page, "skill-00001").click();
    await page.getByText("in the folder renamed-folder").waitFor();
  });

  test("narrows by words at every key, and says how many are left", async () => {
    const { address } = await serve(300);
    const page = await openPage(address);
    await page.getByRole("searchbox").pressSequentially("00007");
    await count(page).getByText("1 of 300 skills").waitFor();
    await row(page, "skill-00007").waitFor();
    await page.keyboard.press("Escape");
    await count(page).getByText("300 of 300 skills").waitFor();
  });

  test("narrows by facets, with counts, and keeps the choice in the URL", async () => {
    const { address } = await serve(300);
    const page = await openPage(address);
    await page.getByRole("checkbox", { name: "action 75" }).check();
    await page.getByRole("checkbox", { name: "MIT 50" }).check();
    await count(page).getByText("50 of 300 skills").waitFor();
    await page.waitForURL(/\?kind=action&license=MIT#\/skills$/);
  });

  test("restores search, facets and the open skill from the URL", async () => {
    const { address } = await serve(300);
    const page = await openPage(`${address}/?q=traces&kind=action#/skills/skill-00004/files`);
    await count(page).getByText("of 300 skills").waitFor();
    expect(await page.getByRole("searchbox").inputValue()).toBe("traces");
    expect(await row(page, "skill-00004").getAttribute("aria-selected")).toBe("true");
    expect(await page.getByRole("option").count()).toBeLessThan(30);
  });

  test("goes back and forward through what was opened", async () => {
    const { address } = await serve(30);
    const page = await openPage(address);
    await row(page, "skill-00002").click();
    await page.waitForURL(/#\/skills\/skill-00002$/);
    await page.getByRole("link", { name: "Sources" }).click();
    await page.waitForURL(/#\/sources$/);
    await page.goBack();
    await page.getByRole("region", { name: "Skill", exact: true }).waitFor();
    await page.goBack();
    await page.getByRole("region", { name: "Skill", exact: true }).waitFor({ state: "detached" });
    await page.goForward();
    await page.getByRole("region", { name: "Skill", exact: true }).waitFor();
  });

  test("is used with the keyboard alone", async () => {
    const { address } = await serve(300);
    const page = await openPage(address);
    await row(page, "skill-00000").waitFor();
    const list = page.getByRole("listbox", { name: "Skills" });
    const active = async (): Promise<string> =>
      (await page.locator(`#${(await list.getAttribute("aria-activedescendant")) ?? "none"} .name`).innerText()).trim();

    await page.keyboard.press("/");
    await page.keyboard.press("ArrowDown");
    expect(await active()).toBe("skill-00000");
    await page.keyboard.press("ArrowDown");
    expect(await active()).toBe("skill-00001");
    await page.keyboard.press("End");
    expect(await active()).toBe("skill-00299");
    await page.keyboard.press("PageUp");
    expect(Number((await active()).slice(6))).toBeLessThan(295);
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.waitForURL(/#\/skills\/skill-00000$/);
    await page.keyboard.press("Escape");
    await page.waitForURL(/#\/skills$/);
    await page.keyboard.press("ArrowDown");
    expect(await active()).toBe("skill-00001");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
  });

  test("keeps what is in view and what is chosen while skills come and go", async () => {
    const server = await serve(500);
    const page = await openPage(server.address);
    await row(page, "skill-00000").waitFor();
    const list = page.getByRole("listbox");
    await list.evaluate((element) => (element.scrollTop = 58 * 200 + 13));
    await row(page, "skill-00203").click();
    await page.keyboard.press("Escape");
    const top = async (): Promise<number> => (await row(page, "skill-00203").boundingBox())?.y ?? Number.NaN;
    const before = await top();
    server.change(
      [inventRow(9_000, { id: "aaa", name: "aaa" }), inventRow(9_001, { id: "aab", name: "aab" })],
      ["skill-00010"],
    );
    await count(page).getByText("501 of 501 skills").waitFor();
    expect(await top()).toBe(before);
    server.change([inventRow(203, { description: "Another description." })]);
    await row(page, "Another description.").waitFor();
    expect(await top()).toBe(before);
    expect(await list.getAttribute("aria-activedescendant")).toBe("row-204");
  });

  test("renders few of 10,000 rows, and announces all to screen readers", async () => {
    const { address } = await serve(10_000);
    const page = await openPage(address);
    await row(page, "skill-00000").waitFor();
    expect(await page.getByRole("option").count()).toBeLessThan(40);
    await page.getByRole("listbox").focus();
    await page.keyboard.press("End");
    await row(page, "skill-09999").waitFor();
    expect(await row(page, "skill-09999").getAttribute("aria-posinset")).toBe("10000");
    expect(await row(page, "skill-09999").getAttribute("aria-setsize")).toBe("10000");
  });

  test("shows texts that try to mislead as what they are", async () => {
    const server = closeAfterwards(
      await startFakeServer([
        inventRow(1, { name: "p\u0430ypal", description: "safe\u202etxt.exe \u200bhidden" }),
        inventRow(2, {
          id: "huge",
          name: "x".repeat(100_000),
          description: "<img src=x onerror=alert(1)>".repeat(1_000),
        }),
      ]),
    );
    const page = await openPage(server.address);
    await page.getByText("look-alike letters").waitFor();
    await page.getByText("safe⟨U+202E⟩txt.exe ⟨U+200B⟩hidden").waitFor();
    expect((await page.getByRole("option").nth(1).innerText()).length).toBeLessThan(1_000);
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  });

  test("says why there is nothing", async () => {
    const server = await serve(0);
    const page = await openPage(server.address);
    await page.getByText("There are no skills yet").waitFor();
    server.change([inventRow(1)]);
    await row(page, "skill-00001").waitFor();
    await page.getByRole("searchbox").fill("zzzzzz");
    await page.getByText("No skill matches").waitFor();
    await page.getByRole("button", { name: "Show all 1 skills" }).click();
    await row(page, "skill-00001").waitFor();
  });

  test("has no accessibility problems in either theme, narrow or wide", async () => {
    const { address } = await serve(300);
    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [360, 1280]) {
        const page = await openPage(address, { colorScheme, viewport: { width, height: 800 } });
        await row(page, "skill-00000").waitFor();
        await expectAccessible(page);
        if (width === 360) await page.getByRole("button", { name: "Filters" }).click();
        await page.getByRole("checkbox", { name: "action" }).check();
        await expectAccessible(page);
        await row(page, "skill-00004").click();
        await expectAccessible(page);
      }
  });

  test("fits the width of the window, from 360 px to 4K", async () => {
    const { address } = await serve(300);
    for (const [width, height] of [
      [360, 640],
      [1280, 800],
      [3840, 2160],
    ] as const) {
      const page = await openPage(address, { viewport: { width, height } });
      await row(page, "skill-00000").waitFor();
      expect(await overflowOf(page)).toBe(0);
      await row(page, "skill-00000").click();
      await page.getByRole("region", { name: "Skill", exact: true }).waitFor();
      expect(await overflowOf(page)).toBe(0);
      await expectAccessible(page);
    }
  });

  test("shows the focus in forced colors, and moves nothing for those who want no motion", async () => {
    const { address } = await serve(30);
    const page = await openPage(address, { forcedColors: "active", reducedMotion: "reduce" });
    await row(page, "skill-00000").waitFor();
    await page.getByRole("checkbox").first().waitFor();
    for (let presses = 0; presses < 8; presses += 1) {
      await page.keyboard.press("Tab");
      expect(await outlineOfFocused(page)).not.toBe("none");
    }
    expect(await movingElements(page)).toBe(0);
  });
});

async function overflowOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/** Of the element that has the focus, or of the row that stands for it. */
async function outlineOfFocused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const focused = document.querySelector("acp-skill-browser")?.shadowRoot?.activeElement;
    const around = [focused, focused?.parentElement, focused?.querySelector(".row.active")];
    return (
      around.map((element) => (element ? getComputedStyle(element).outlineStyle : "none")).find((s) => s !== "none") ??
      "none"
    );
  });
}

async function movingElements(page: Page): Promise<number> {
  return page.evaluate(() => {
    const all = [...(document.querySelector("acp-skill-browser")?.shadowRoot?.querySelectorAll("*") ?? [])];
    return all.filter((element) => {
      const { animationName, transitionDuration } = getComputedStyle(element);
      return animationName !== "none" || /[1-9]/.test(transitionDuration);
    }).length;
  });
}
