import path from "node:path";
import { expect, test } from "vitest";
import { inventRun, recordEvals } from "../../../../evals/record-evals.ts";
import { expectAccessible } from "../../axe.ts";
import { openBrowse, skillText } from "../../open-browse.ts";
import { closeAfterwards, describeInBrowser, openPage } from "../../open-page.ts";
import { openTab } from "../open-tab.ts";

describeInBrowser("the evals of a skill", () => {
  test("says how to make them, shows each case with and without the skill, and what was said in a session", async () => {
    const browse = closeAfterwards(await openBrowse({ "csv-facts": skillText("csv-facts", "Facts on CSV.") }));
    const page = await openPage(browse.address);
    await page.getByText("csv-facts").first().waitFor();
    await openTab(page, "csv-facts", "evals");
    await page.getByText("acp-skills eval SKILL -- AGENT").waitFor();

    const workspace = path.join(browse.project, "csv-facts-workspace");
    const without = inventRun({ withSkill: false, durationMs: 4_000, tokens: 1_200 });
    recordEvals(workspace, [inventRun({ results: without.results }), without]);
    recordEvals(workspace, [inventRun(), without, inventRun({ id: "dies", results: [], fault: "it ended" })]);
    await page.getByRole("button", { name: "Read again" }).click();
    const cells = (row: number) => page.locator("tbody tr").nth(row).locator("th, td").allTextContents();
    await expect.poll(() => cells(0)).toEqual(["totals", "100 %", "0 %", "1 of 1", "1.5", "–", "4", "1,200"]);
    expect(await cells(1)).toEqual(["dies", "–", "–", "0 of 0", "1.5", "–", "–", "–"]);
    await expectAccessible(page);

    await page.getByText("totals, run 1 without it: 0 % of assertions").click();
    await page.getByText("Does not hold:").waitFor();
    expect(await page.locator(".past-run li").first().textContent()).toContain("<b>41</b> ⟨U+202E⟩14");
    await page.locator(".past-run").first().getByText("What was said and done").waitFor({ state: "attached" });
    await page.locator("details[open] .past-run").getByText("What was said and done").click();
    await page.getByText("It is <i>42</i>.").waitFor();
    await expectAccessible(page);

    await page.getByLabel("Evaluation").selectOption("1");
    await expect.poll(() => cells(0)).toEqual(["totals", "0 %", "0 %", "1 of 1", "1.5", "–", "4", "1,200"]);
  }, 120_000);
});
