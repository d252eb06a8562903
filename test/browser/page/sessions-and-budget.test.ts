import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openRuns } from "../server/open-runs.ts";
import { expectAccessible } from "./axe.ts";
import { closeAfterwards, describeInBrowser, openPage } from "./open-page.ts";

const pageDirectory = fileURLToPath(new URL("../../../dist/browser", import.meta.url));

const long = "Reads the long report. ".repeat(45);
const skills = Object.fromEntries([
  ["greet/SKILL.md", "---\nname: greet\ndescription: Greets.\n---\n\nSay hello.\n"],
  ...Array.from({ length: 12 }, (_, at) => [
    `long-${at}/SKILL.md`,
    `---\nname: long-${at}\ndescription: ${long}\n---\n\nRead it.\n`,
  ]),
]) as Record<string, string>;

describeInBrowser("the views beside the list", () => {
  test("sessions show what editors were sent, what was used, and sessions that come later", async () => {
    const { app, address, close } = await openRuns(skills, { pageDirectory });
    closeAfterwards({ close });
    const announced = { at: Date.now(), skills: 301, names: ["greet", "<img src=x onerror=alert(1)>"] };
    const record = { sessionId: "sess_1", agent: "an-agent", editor: "an-editor", openedAt: Date.now() - 5_000 };
    app.sessionRecords.keep({}, { ...record, forms: ["available_commands_update"], tools: true, announced });
    app.ledger.record({
      at: Date.now() - 1_000,
      tool: "read_skill_file",
      skill: "greet",
      sessionId: "sess_1",
      outcome: "completed",
      door: "mcp",
    });
    const page = await openPage(address, { colorScheme: "light" });
    await page.getByRole("link", { name: "Sessions" }).click();
    await page.getByRole("heading", { name: "an-editor → an-agent" }).waitFor();
    await page.getByText("301 skills").waitFor();
    await page.getByText("Which skills").click();
    await page.getByText("and 299 more").waitFor();
    await page.getByText("1 use").click();
    await page.getByRole("cell", { name: "read_skill_file" }).waitFor();
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await expectAccessible(page);

    app.sessionRecords.keep({}, { ...record, sessionId: "sess_2", editor: "another", forms: [], tools: false });
    await page.getByRole("heading", { name: "another → an-agent" }).waitFor();
    await page.getByRole("row").getByRole("link", { name: "greet" }).click();
    await page.getByText("Say hello.").waitFor();
  });

  test("the context budget names what agents cut, and leads to it", async () => {
    const { address, close, write } = await openRuns(skills, { pageDirectory });
    closeAfterwards({ close });
    const page = await openPage(address, { colorScheme: "dark" });
    await page.getByRole("link", { name: "Context budget" }).click();
    await page.getByText("Models see 13 skills.").waitFor();
    await page.getByText("cuts 12 descriptions").first().click();
    await page.getByRole("link", { name: "long-3", exact: true }).first().waitFor();
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: "light" });
    await expectAccessible(page);

    write("later/SKILL.md", "---\nname: later\ndescription: Came later.\n---\n\nWait.\n");
    await page.getByText("Models see 14 skills.").waitFor();
    expect(await page.getByText("cuts 12 descriptions").count()).toBe(2);
  });
});
