import { readFileSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { usePublisher } from "../../cli/commands/sources/publish-skills.ts";
import { expectAccessible } from "./axe.ts";
import { openBrowse } from "./open-browse.ts";
import { closeAfterwards, describeInBrowser, openPage } from "./open-page.ts";

const openPublisher = usePublisher();

function alpha(version: string, more = "", body = "Do it."): Record<string, string> {
  const metadata = `metadata:\n  version: "${version}"\n${more}`;
  return { "SKILL.md": `---\nname: alpha\ndescription: Does alpha.\n${metadata}---\n\n${body}\n` };
}

async function expectAccessibleInBothThemes(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page);
  }
}

describeInBrowser("the sources of the skill browser", () => {
  test("a skill is found at its source, reviewed, installed, and updated after a look at what changes", async () => {
    const publisher = await openPublisher();
    await publisher.publish({ alpha: alpha("1.0.0"), "<b>beta\u202e": { "SKILL.md": "nothing" } });
    const server = closeAfterwards(await openBrowse({}, ["--allow-private", "127.0.0.1"]));
    const page = await openPage(server.address);
    await page.getByRole("link", { name: "Sources" }).click();
    const project = page.getByRole("region", { name: "In this project" });
    await project.getByText("Nothing was installed here from a source.").waitFor();
    await expectAccessibleInBothThemes(page);

    await page.getByLabel("Source", { exact: true }).fill(publisher.origin);
    await page.keyboard.press("Enter");
    await page.getByRole("checkbox", { name: "alpha" }).waitFor();
    expect(await page.evaluate(focusedText)).toContain(publisher.origin);
    await page.getByRole("checkbox", { name: "alpha" }).focus();
    await page.keyboard.press("Space");
    await expectAccessibleInBothThemes(page);
    await page.getByRole("button", { name: "Review 1 skill" }).press("Enter");

    const review = page.getByRole("region", { name: "Review 1 change" });
    await review.getByText("It requests nothing beyond its sandbox.").waitFor();
    expect(await page.evaluate(focusedText)).toBe("Review 1 change");
    await review.getByText("SKILL.md").click();
    await review.getByText("+Do it.").waitFor();
    await expectAccessibleInBothThemes(page);
    await review.getByRole("button", { name: /^Install 1 skill in .*\.agents\/skills$/ }).click();
    await project.getByText("verified").waitFor();
    expect(await page.evaluate(focusedText)).toMatch(/^Installed 1 skill in .* Installing granted nothing\.$/);
    expect(readFileSync(path.join(server.project, "skills-lock.json"), "utf8")).toContain('"alpha"');

    await publisher.publish({
      alpha: alpha("1.1.0", "  acp-skills-network: https://api.example.com\n", "Do it well."),
    });
    await project.getByRole("button", { name: "Check for updates" }).click();
    await page.getByText("NEW: network https://api.example.com").waitFor();
    await page.getByText("-Do it.").waitFor();
    await page.getByText("+Do it well.").waitFor();
    await expectAccessibleInBothThemes(page);
    await page.getByRole("button", { name: /^Update 1 skill in / }).click();
    await project.getByText("1.1.0").waitFor();
  });

  test("what goes wrong is shown beside the form, and nothing can be installed from a read-only page", async () => {
    const server = closeAfterwards(await openBrowse({}));
    const page = await openPage(server.address, { allow: /50[0-9]|400/ });
    await page.getByRole("link", { name: "Sources" }).click();
    await page.getByLabel("Source", { exact: true }).fill("https://10.0.0.1/");
    await page.getByRole("button", { name: "Discover" }).click();
    await page.getByRole("alert").getByText("10.0.0.1 is a private address").waitFor();
    await expectAccessible(page);

    const readOnly = closeAfterwards(await openBrowse({}, ["--read-only"]));
    const other = await openPage(readOnly.address);
    await other.getByRole("link", { name: "Sources" }).click();
    await other.getByText("Nothing was installed here from a source.").first().waitFor();
    expect(await other.getByRole("button", { name: "Discover" }).count()).toBe(0);
  });
});

/** Inside the element's shadow root. */
function focusedText(): string {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return (focused?.textContent ?? "").trim();
}
