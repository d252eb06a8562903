import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeRedirectFile } from "../../../src/cli/commands/serve/browse.ts";
import { expectAccessible } from "./axe.ts";
import { openBrowse, skillText } from "./open-browse.ts";
import { closeAfterwards, describeInBrowser, openPage } from "./open-page.ts";

describeInBrowser("the page of acp-skills browse", () => {
  test("lists the skills of the project, and shows changes on disk without being asked", async () => {
    const server = closeAfterwards(
      await openBrowse({
        "fill-forms": skillText("fill-forms", "Fills forms in PDF files."),
        broken: "no frontmatter",
      }),
    );
    const page = await openPage(server.address);
    await page.getByRole("option", { name: "Fills forms in PDF files." }).waitFor();
    await page.getByRole("option", { name: "Invalid" }).waitFor();
    expect(page.url()).not.toContain("code");
    await expectAccessible(page);

    server.write("fill-forms", skillText("fill-forms", "Fills every form there is."));
    await page.getByRole("option", { name: "Fills every form there is." }).waitFor();
    server.write("another", skillText("another", "Came later."));
    await page.getByRole("option", { name: "Came later." }).waitFor();
    server.remove("another");
    await page.getByRole("option", { name: "Came later." }).waitFor({ state: "detached" });
  });

  test("opens by a file that leads to its address, and has its search box in focus", async () => {
    const server = closeAfterwards(await openBrowse({ one: skillText("one", "The only one.") }));
    const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-redirect-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const { url } = writeRedirectFile(directory, server.address);
    const page = await openPage(url, { allow: /^foreign request: http:\/\/127\.0\.0\.1:/ });
    await page.getByRole("option", { name: "The only one." }).waitFor();
    expect(new URL(page.url()).origin).toBe(new URL(server.address).origin);
    expect(await page.getByRole("searchbox").evaluate((box) => box.matches(":focus"))).toBe(true);
    await page.keyboard.type("nothing like it");
    await page.getByText("No skill matches").waitFor();
  });

  test("does not take the cookie from a tab that has no key of its own", async () => {
    const server = closeAfterwards(await openBrowse({ one: skillText("one", "The only one.") }));
    const page = await openPage(server.address, { allow: /401/ });
    await page.getByRole("option", { name: "The only one." }).waitFor();
    await page.evaluate(() => sessionStorage.clear());
    await page.reload();
    await page.getByText("This page has no access to the server").waitFor();
  });

  test("stays signed in when it is loaded again", async () => {
    const server = closeAfterwards(await openBrowse({ one: skillText("one", "The only one.") }));
    const page = await openPage(server.address);
    await page.getByRole("option", { name: "The only one." }).waitFor();
    await page.reload();
    await page.getByRole("option", { name: "The only one." }).waitFor();
  });

  test("says what to do when it was opened without a code", async () => {
    const server = closeAfterwards(await openBrowse({ one: skillText("one", "The only one.") }));
    const page = await openPage(new URL("/", server.address).href, { allow: /401/ });
    await page.getByText("This page has no access to the server").waitFor();
    await page.getByText("This address is no longer valid.").waitFor();
    expect(await page.getByRole("option").count()).toBe(0);
  });
});
