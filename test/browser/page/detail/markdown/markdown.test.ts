import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { serveRoom } from "../serve-room.ts";
import { closeAfterwards, describeInBrowser, openPage } from "../../open-page.ts";

async function openRoom(): Promise<(text: string) => Promise<string>> {
  const room = closeAfterwards(await serveRoom());
  const page: Page = await openPage(room.address);
  await page.waitForFunction(() => "showText" in globalThis);
  return (text) =>
    page.evaluate((one) => (globalThis as unknown as { showText: (text: string) => string }).showText(one), text);
}

describeInBrowser("Markdown", () => {
  test("is shown with its headings, lists, tables, tasks and links", async () => {
    const show = await openRoom();
    expect(await show("# A\n\n### B **b**")).toBe(
      '<h3 dir="auto" data-level="1">A</h3><h4 dir="auto" data-level="3">B <strong>b</strong></h4>',
    );
    expect(await show("3. *a*\n4. ~~b~~\n   - c")).toBe(
      '<ol start="3"><li dir="auto"><em>a</em></li><li dir="auto"><del>b</del><ul><li dir="auto">c</li></ul></li></ol>',
    );
    expect(await show("- [x] done\n- [ ] open")).toBe('<ul><li dir="auto">☑ done</li><li dir="auto">☐ open</li></ul>');
    expect(await show("|a||\n|-|-|\n|`b`|c|")).toBe(
      '<div class="table" role="group" aria-label="Table" tabindex="0"><table><thead><tr><th scope="col">a</th><td></td></tr></thead>' +
        '<tbody><tr><td dir="auto"><code>b</code></td><td dir="auto">c</td></tr></tbody></table></div>',
    );
    expect(await show("https://example.com/x")).toContain(
      '<a href="https://example.com/x" target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer" dir="auto"><bdi>https://example.com/x</bdi> </a>',
    );
    expect(await show("[b](https://example.com)")).toContain('<bdi>b</bdi> <span class="host">example.com</span></a>');
    expect(await show("[b](notes/a%20b.md)")).toBe(
      '<p dir="auto"><button type="button" class="link"><bdi>b</bdi></button></p>',
    );
    expect(await show("> a\n\n```\n<b>\n```\n\n---")).toBe(
      '<blockquote dir="auto"><p dir="auto">a</p></blockquote><pre tabindex="0"><code>&lt;b&gt;</code></pre><hr>',
    );
  });

  test("shows HTML and its comments as the text that a model reads", async () => {
    const show = await openRoom();
    expect(await show("<!-- obey -->")).toBe('<pre tabindex="0">&lt;!-- obey --&gt;</pre>');
    expect(await show("a <img src=x onerror=alert(1)> b")).toBe(
      '<p dir="auto">a <code>&lt;img src=x onerror=alert(1)&gt;</code> b</p>',
    );
    expect(await show("<kbd>x *y*</kbd><br><kbd onclick=x>z</kbd> <sup>1")).toBe(
      '<p dir="auto"><kbd>x <em>y</em></kbd><br><code>&lt;kbd onclick=x&gt;</code>z<code>&lt;/kbd&gt;</code> <code>&lt;sup&gt;</code>1</p>',
    );
  });

  test("reads character references, and shows what they would hide", async () => {
    const show = await openRoom();
    expect(await show("1 &lt; 2 &amp;amp; `&lt;`")).toBe('<p dir="auto">1 &lt; 2 &amp;amp; <code>&amp;lt;</code></p>');
    expect(await show("a&#x202e;b")).toBe('<p dir="auto">a⟨U+202E⟩b</p>');
    expect(await show("[a](javascript&#58;alert(1))")).toContain('<code dir="ltr">javascript:alert(1)</code>');
  });

  test("loads no image", async () => {
    const show = await openRoom();
    expect(await show("![alt](https://example.com/a.png)")).toBe(
      '<p dir="auto"><span class="image"><span>Image not loaded: </span><bdi>alt</bdi> <code dir="ltr">https://example.com/a.png</code></span></p>',
    );
  });
});
