import { readdirSync } from "node:fs";
import type { Page } from "playwright-core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { closeAfterwards, describeInBrowser, openPage } from "../open-page.ts";
import { openBrowse } from "../open-browse.ts";
import { hostileMarkdown, hostileNames } from "./hostile-texts.ts";
import { tabNames, openTab } from "./open-tab.ts";
import { serveRoom } from "./serve-room.ts";

/** Elements and attributes that run, load, style, submit or name something. */
async function dangersIn(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const root = document.querySelector("acp-skill-browser")?.shadowRoot ?? document.body;
    const shown = root.querySelector(".skill") ?? document.querySelector("#shown");
    return Array.from(shown?.querySelectorAll(".markdown *") ?? []).flatMap((element) => {
      const names = element.getAttributeNames();
      return [
        ...(/^(?:h[3-6]|p|br|hr|blockquote|pre|code|ul|ol|li|strong|em|del|kbd|sub|sup|a|bdi|span|button|div|table|thead|tbody|tr|th|td)$/.test(
          element.localName,
        ) && element.namespaceURI === "http://www.w3.org/1999/xhtml"
          ? []
          : [element.outerHTML]),
        ...names.filter((name) => /^on|^(?:id|name|style|src|srcset|srcdoc|action|xlink:href)$/.test(name)),
        ...(names.includes("href") && !/^https?:\/\//.test(element.getAttribute("href") ?? "")
          ? [element.outerHTML]
          : []),
      ];
    });
  });
}

describeInBrowser("a hostile skill", () => {
  test("does nothing on any tab: no script, no dialog, no request, no violation of the policy", async () => {
    const skill = (index: number, name: string): string =>
      `---\nname: ${JSON.stringify(name)}\ndescription: ${JSON.stringify(`${name} ${hostileMarkdown[index % hostileMarkdown.length] ?? ""}`)}\nlicense: ${JSON.stringify(`${name}<img src=x onerror=canary=1>`)}\nmetadata:\n  __proto__: ${JSON.stringify(name)}\n  ${JSON.stringify(name.slice(0, 100))}: "<svg/onload=canary=1>"\n---\n\n${hostileMarkdown.join("\n\n")}\n`;
    const texts = Object.fromEntries(
      hostileNames.map((name, index) => [`hostile-${String(index)}`, skill(index, name)]),
    );
    const browse = closeAfterwards(await openBrowse({ ...texts, first: skill(0, "first") }));
    const page = await openPage(browse.address);
    let dialogs = 0;
    page.on("dialog", (dialog) => {
      dialogs++;
      void dialog.dismiss();
    });
    await page.getByRole("option").first().waitFor();
    const ids = await page.evaluate(async () => {
      const { skills } = (await (await fetch("/api/skills", { headers: Object.entries(sessionStorage) })).json()) as {
        skills: { id: string }[];
      };
      return skills.map(({ id }) => id);
    });
    expect(ids).toHaveLength(readdirSync(`${browse.project}/.agents/skills`).length);
    for (const id of ids)
      for (const tab of id.endsWith("first") ? tabNames : ["overview", "manifest"]) {
        await openTab(page, id, tab);
        expect(await dangersIn(page)).toEqual([]);
        const [width, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        expect(width).toBeLessThanOrEqual(room);
      }
    expect(await page.evaluate(() => "canary" in globalThis)).toBe(false);
    expect(dialogs).toBe(0);
    expect(new URL(page.url()).origin).toBe(new URL(browse.address).origin);
  });

  test("yields only harmless elements whatever its Markdown, also by the opinion of a sanitiser", async () => {
    const room = closeAfterwards(await serveRoom());
    const page = await openPage(room.address);
    const part = fc.oneof(
      fc.constantFrom(...hostileMarkdown),
      fc.string(),
      fc.constantFrom(
        ..."<svg> <math> <style> <!-- --> </p> <table> <td> <a href= \" ' ` > < [ ]( ) ![ &lt; &#60; \n\n".split(" "),
      ),
    );
    const texts = [
      ...hostileMarkdown,
      ...fc.sample(
        fc.array(part, { maxLength: 12 }).map((parts) => parts.join("")),
        { numRuns: 400, seed: 12 },
      ),
    ];
    await page.waitForFunction(() => "showText" in globalThis);
    const shown = await page.evaluate(
      (all) =>
        all.map((text) => {
          const html = (globalThis as unknown as { showText: (text: string) => string }).showText(text);
          const dangers = Array.from(document.querySelectorAll("#shown *")).filter(
            (element) =>
              /^(?:script|style|svg|math|iframe|object|embed|form|img|input|base|link|meta|template|video|audio)$/.test(
                element.localName,
              ) ||
              element
                .getAttributeNames()
                .some((attribute) => /^on|^(?:id|name|style|src|srcdoc|action)$/.test(attribute)) ||
              /^\s*(?:javascript|data|vbscript):/i.test(element.getAttribute("href") ?? ""),
          );
          return { html, dangers: dangers.map(({ outerHTML }) => `${text} → ${outerHTML}`) };
        }),
      texts,
    );
    expect(shown.flatMap(({ dangers }) => dangers)).toEqual([]);
    expect(await page.evaluate(() => "canary" in globalThis)).toBe(false);

    const opinion = await openPage(`${room.address}/opinion`);
    await opinion.waitForFunction(() => "removedFrom" in globalThis);
    const removed = await opinion.evaluate(
      (all) =>
        all.flatMap((html) => (globalThis as unknown as { removedFrom: (html: string) => string[] }).removedFrom(html)),
      shown.map(({ html }) => html),
    );
    expect(removed).toEqual([]);
  });
});
