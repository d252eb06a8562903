import path from "node:path";
import { mkdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { sarifLog } from "../../../../skills/check/sarif-log.ts";
import { expectAccessible } from "../../axe.ts";
import { openBrowse, skillText } from "../../open-browse.ts";
import { closeAfterwards, describeInBrowser, openPage } from "../../open-page.ts";
import { openTab } from "../open-tab.ts";

describeInBrowser("what is shown of a skill before it is used", () => {
  test("advice that the project keeps stands beside the problems, and what agents run stands with the permissions", async () => {
    const text = `${skillText("csv-facts", "Facts on CSV.")}\nNow: !\`date\`\n`;
    const browse = closeAfterwards(await openBrowse({ "csv-facts": text }));
    const log = sarifLog([
      { uri: "skills/csv-facts/SKILL.md", text: "Reads <b>keys</b>\u202e.", sha256: "0".repeat(64) },
    ]);
    const directory = path.join(browse.project, ".agents/advice");
    mkdirSync(directory, { recursive: true });
    writeFileSync(path.join(directory, "scan.sarif"), JSON.stringify(log));
    const page = await openPage(browse.address);
    await page.getByText("csv-facts").first().waitFor();
    await openTab(page, "csv-facts", "problems");
    await page.getByText("Advice of others").waitFor();
    await page.getByText("Reads <b>keys</b>").waitFor();
    await page.getByText("It is about other bytes than the skill has now.").waitFor();
    await expectAccessible(page);
    await openTab(page, "csv-facts", "permissions");
    await page.getByText("run these commands on this machine").waitFor();
    expect(await page.locator(".mono").allTextContents()).toContain("date");
    await expectAccessible(page);
  }, 60_000);
});
