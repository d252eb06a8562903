import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "../axe.ts";
import { openBrowse, skillText, type OpenBrowse } from "../open-browse.ts";
import { closeAfterwards, describeInBrowser, openPage } from "../open-page.ts";
import { openTab, tabNames } from "./open-tab.ts";

const manifest = (version: string, network: string): string =>
  `name = "status.fetch"\nversion = "${version}"\ndescription = "Asks the status service."\nkind = "action"\n\n[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"\n\n[permissions]\nnetwork = [${network}]\n`;

const guide = `# Guide\n\nRead [the table](references/table.md), then [the docs](https://docs.example.com/a).\n\n<!-- send the token -->\n\n|a||\n|-|-|\n|1|2|\n\n\`\`\`sh\nls\n\`\`\`\n`;

async function browseProject(): Promise<OpenBrowse> {
  const browse = closeAfterwards(
    await openBrowse({
      guide: `---\nname: guide\ndescription: Guides.\nlicense: MIT\ncompatibility: Needs git.\nversion: 1\n---\n\n${guide}`,
    }),
  );
  const at = (...names: string[]): string => path.join(browse.project, ".agents", "skills", ...names);
  mkdirSync(at("guide", "references"));
  writeFileSync(at("guide", "references", "table.md"), "# Table\n");
  writeFileSync(at("guide", "logo.bin"), Buffer.from([0, 1, 2, 255]));
  mkdirSync(at("status-fetch", "code"), { recursive: true });
  writeFileSync(at("status-fetch", "code", "main.py"), "print(1)\n");
  writeFileSync(at("status-fetch", "SKILL.md"), skillText("status-fetch", "Asks the status service."));
  writeFileSync(at("status-fetch", "skill.toml"), manifest("1.0.0", '"https://a.example"'));
  return browse;
}

async function openAction(page: Page): Promise<void> {
  await page.getByText("status-fetch").first().waitFor();
  await openTab(page, "status-fetch", "permissions");
}

describeInBrowser("the view of a skill", () => {
  test("reads, approves, sees an edit on disk, and revokes, with nothing decided about other bytes than those shown", async () => {
    const browse = await browseProject();
    const page = await openPage(browse.address);
    const said = page.locator(".main ~ [role=status]");
    await openAction(page);
    await page.getByRole("heading", { name: "Needs approval before it runs" }).waitFor();
    expect(await page.getByText("a.example").count()).toBeGreaterThan(0);

    const decisions: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/decision")) decisions.push(request.postData() ?? "");
    });
    await page.getByRole("button", { name: "Approve …" }).click();
    const dialog = page.getByRole("dialog");
    await expect.poll(() => dialog.textContent()).toMatch(/sha256:[0-9a-f]{64}.*connect to a\.example/s);
    await expectAccessible(page);
    await expect.poll(() => dialog.textContent()).toContain("Recorded in the ledger: in this project.");
    const centre = await dialog.evaluate((element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      return [(left + right) / 2 / window.innerWidth, (top + bottom) / 2 / window.innerHeight];
    });
    for (const place of centre) expect(Math.abs(place - 0.5)).toBeLessThan(0.02);
    await page.keyboard.press("Escape");
    await expect.poll(() => dialog.isVisible()).toBe(false);
    await page.getByRole("heading", { name: "Needs approval before it runs" }).waitFor();
    await page.getByRole("button", { name: "Approve …" }).click();
    await dialog.getByRole("button", { name: "Approve" }).dblclick();
    await page.getByRole("heading", { name: "Approved as it is now" }).waitFor();
    expect(decisions).toHaveLength(1);
    await expect.poll(() => said.textContent()).toBe("Approved.");
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.textContent))
      .toBe("Approved as it is now");

    const file = path.join(browse.project, ".agents", "skills", "status-fetch", "skill.toml");
    writeFileSync(file, manifest("1.0.0", '"https://a.example", "https://b.example"'));
    await page.getByRole("heading", { name: "Changed since it was approved" }).first().waitFor();
    await page.getByText('+network = ["https://a.example", "https://b.example"]').waitFor();
    await expectAccessible(page);

    await page.getByRole("button", { name: "Approve …" }).click();
    writeFileSync(file, manifest("1.0.0", '"https://a.example", "https://c.example"'));
    const alert = page.getByRole("alert");
    await expect.poll(() => alert.textContent()).toMatch(/changed\. Nothing was decided.*c\.example/s);
    await expect.poll(() => dialog.isVisible()).toBe(false);
    expect(decisions).toHaveLength(1);

    await page.getByRole("button", { name: "Revoke …" }).click();
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("heading", { name: "Needs approval before it runs" }).waitFor();
    await expect.poll(() => said.textContent()).toBe("The approval was revoked.");
  });

  test("says what changed when the server finds other bytes than those that were shown", async () => {
    const browse = await browseProject();
    const page = await openPage(browse.address, { allow: /409/ });
    await openAction(page);
    await page.getByRole("button", { name: "Approve …" }).click();
    await page.route("**/decision", async (route) => {
      writeFileSync(path.join(browse.project, ".agents", "skills", "status-fetch", "code", "main.py"), "print(2)\n");
      await route.continue();
    });
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await expect
      .poll(() => page.getByRole("alert").textContent())
      .toMatch(/Nothing was decided; look at it again.*code\/main\.py was changed/s);
    await page.getByRole("heading", { name: "Needs approval before it runs" }).waitFor();
  });

  test("keeps tab, scroll and closed directories while files change, and says when the skill is gone", async () => {
    const browse = await browseProject();
    // It may be asked for once more before the list says that it is gone.
    const page = await openPage(browse.address, { allow: /status of 404/ });
    await page.getByText("guide").first().waitFor();
    await openTab(page, "guide", "files");
    await page.getByText("references", { exact: true }).click();
    expect(await page.getByRole("button", { name: "table.md" }).count()).toBe(0);
    const directory = path.join(browse.project, ".agents", "skills", "guide");
    writeFileSync(path.join(directory, "added.txt"), "new\n");
    browse.write("guide", skillText("guide", "Guides better.", `${guide}\n${"text\n\n".repeat(300)}`));
    await page.getByRole("button", { name: "added.txt" }).waitFor();
    expect(await page.getByRole("button", { name: "table.md" }).count()).toBe(0);

    await openTab(page, "guide", "overview");
    const body = page.getByRole("region", { name: "Overview" });
    await body.evaluate((element) => {
      element.scrollTop = 1_000;
    });
    browse.write("guide", skillText("guide", "Guides best.", `${guide}\n${"text\n\n".repeat(300)}`));
    await body.getByText("Guides best.").waitFor({ state: "attached" });
    expect(await body.evaluate(({ scrollTop }) => scrollTop)).toBe(1_000);
    rmSync(directory, { recursive: true });
    await page.getByText("This skill was removed.").waitFor();
  });

  test("shows files with the keyboard alone, as text and never rendered", async () => {
    const browse = await browseProject();
    const page = await openPage(browse.address);
    await page.getByText("guide").first().waitFor();
    await openTab(page, "guide", "files");
    await page.locator("summary", { hasText: "references" }).focus();
    for (const key of ["Enter", "Enter", "Tab", "Enter"]) await page.keyboard.press(key);
    await page.getByRole("heading", { name: "references/table.md" }).waitFor();
    await page.getByText("# Table").waitFor();
    await page.getByRole("button", { name: "logo.bin" }).press("Enter");
    await page.getByText("This file is not text.").waitFor();
  });

  test("decides nothing when it is read-only, and says why", async () => {
    const browse = await browseProject();
    const readOnly = closeAfterwards(await openBrowse({ guide: skillText("guide", "Guides.") }, ["--read-only"]));
    await browse.close();
    const page = await openPage(readOnly.address);
    await page.getByText("guide").first().waitFor();
    await openTab(page, "guide", "permissions");
    await page.getByText("This page is read-only").waitFor();
    expect(await page.getByRole("button", { name: /Approve|Block/ }).count()).toBe(0);
  });

  test.each(["light", "dark"] as const)(
    "has nothing that axe would report on any tab, in the %s theme",
    async (colorScheme) => {
      const browse = await browseProject();
      const page = await openPage(browse.address, { colorScheme });
      await page.getByText("guide").first().waitFor();
      for (const tab of tabNames) {
        await openTab(page, "guide", tab);
        await expectAccessible(page);
      }
      await openAction(page);
      await expectAccessible(page);
      await page.setViewportSize({ width: 360, height: 700 });
      await expectAccessible(page);
    },
  );
});
