import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { type OpenRuns, openRuns, python } from "../../../server/open-runs.ts";
import { expectAccessible } from "../../axe.ts";
import { describeInBrowser, openPage } from "../../open-page.ts";

const pageDirectory = fileURLToPath(new URL("../../../../../dist/browser", import.meta.url));

const inputs = `[inputs]
table = { type = "blob", required = true, description = "The table to clean." }
rows = { type = "integer", default = 10 }
mode = { type = "string", enum = ["strict", "lenient"] }
options = { type = "object" }
`;
const clean = `import shutil
def main(args):
    print("cleaning\\x1b[31m")
    shutil.copy("/blobs/" + args["table"], "/output/clean.csv")
    return {"rows": args["rows"], "options": args.get("options"), "many": list(range(250))}
`;
const table = { name: "rows.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n1,2\n") };

interface OpenTab {
  readonly runs: OpenRuns;
  readonly page: Page;
}

async function openTab(
  skills: Readonly<Record<string, string>>,
  id: string,
  {
    tab = "run",
    allow,
    isDark = false,
  }: { readonly tab?: string; readonly allow?: RegExp; readonly isDark?: boolean } = {},
): Promise<OpenTab> {
  const runs = await openRuns(skills, { pageDirectory });
  const page = await openPage(runs.address, {
    colorScheme: isDark ? "dark" : "light",
    permissions: ["clipboard-write"],
    ...(allow !== undefined && { allow }),
  });
  await page.getByRole("option").first().click();
  await page.getByRole("link", { name: "Overview" }).waitFor();
  await show(page, id, tab);
  return { runs, page };
}

async function show(page: Page, id: string, tab: string): Promise<void> {
  await page.evaluate((hash) => (location.hash = hash), `#/skills/${id}/${tab}`);
  await page.getByRole("region", { name: `${tab.charAt(0).toUpperCase()}${tab.slice(1)}`, exact: true }).waitFor();
}

const start = (page: Page): Promise<void> => page.getByRole("button", { name: "Run", exact: true }).click();
const ended = (page: Page, words: string): Promise<void> =>
  page.locator(".run-panel header").getByText(words, { exact: true }).waitFor();

describeInBrowser("the run tab", () => {
  test.each([false, true])("form, run, log, result, file, copy; axe reports nothing (dark: %s)", async (isDark) => {
    const { page } = await openTab(python("rows.clean", clean, inputs), "rows-clean", { isDark });
    await start(page);
    const field = page.getByLabel("table", { exact: false });
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(await field.evaluate((element) => element.matches(":focus"))).toBe(true);
    await page.getByText("table is required: a blob id, as create_blob returns it.").waitFor();
    await page.locator("input[type=file]").first().setInputFiles(table);
    await page.getByText("stored", { exact: true }).waitFor();
    await page.getByRole("textbox", { name: /^options/ }).fill('{"trim": true,}');
    await page.getByText("options is not JSON: ").waitFor();
    await expectAccessible(page);
    await page.getByRole("textbox", { name: /^options/ }).fill('{"trim": true}');
    await page.getByRole("textbox", { name: /^rows/ }).fill("5");
    await start(page);
    await ended(page, "Completed");
    expect(await page.getByRole("log").textContent()).toBe("cleaning\n");

    // Only what is open is rendered, a hundred children at first; the keyboard is enough to see more.
    const tree = page.getByRole("group", { name: "Output" });
    await tree.getByText("rows: 5").waitFor();
    expect(await tree.getByText("0: 0", { exact: true }).count()).toBe(0);
    await tree.locator("details details > summary").last().focus();
    await page.keyboard.press("Enter");
    await tree.getByText("99: 99", { exact: true }).waitFor();
    expect(await tree.getByText("100: 100", { exact: true }).count()).toBe(0);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await tree.getByText("199: 199", { exact: true }).waitFor();
    await tree.getByText("Show 50 of 50 more").waitFor();

    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "clean.csv" }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe("clean.csv");
    expect(readFileSync(await file.path())).toEqual(table.buffer);

    await page.getByText("The same as a tool call").click();
    await page.getByRole("button", { name: "Copy as tool call" }).click();
    await page.getByRole("status").getByText("Copied as tool call.").waitFor();
    const options = page.getByRole("textbox", { name: /^options/ });
    const copied = await pasted(options);
    expect(JSON.parse(copied)).toEqual({
      name: "execute_skill",
      arguments: {
        name: "rows-clean",
        args: { table: expect.stringMatching(/^blob:/) as string, rows: 5, options: { trim: true } },
      },
    });
    await options.fill('{"trim": true}');
    await page.getByRole("button", { name: "Copy as CLI command" }).click();
    await page.getByRole("status").getByText("Copied as CLI command.").waitFor();
    const command = await pasted(options);
    expect(command).toMatch(
      /^acp-skills run rows-clean --args '\{"table":"blob:[0-9a-f]+","rows":5,"options":\{"trim":true\}\}'$/,
    );
    await expectAccessible(page);

    await show(page, "rows-clean", "history");
    await page.locator(".runs summary").click();
    await page.getByRole("group", { name: "Output" }).waitFor();
    await page.getByText("Run in this browser.").waitFor();
    await expectAccessible(page);
  });

  test("what the sandbox of this machine does not support is said before a run, with what would add it", async () => {
    const { page } = await openTab(python("rows.clean", clean, inputs), "rows-clean");
    const sandbox = { tier: "landlock", lacks: ["network access"], remedy: "bubblewrap would add it. Fix: get it" };
    const about = { version: "1", readOnly: false, directory: "~", sandbox };
    await page.route(/\/api\/about/, (route) => route.fulfill({ json: about }));
    await page.reload();
    await page.getByText("The landlock sandbox does not support everything").waitFor();
    await page.getByText("It is without network access. bubblewrap would add it. Fix: get it").waitFor();
  });

  test("a script is run with the keyboard alone, and its words are shown as they are passed", async () => {
    const { page } = await openTab(
      {
        "tool/SKILL.md": "---\nname: tool\ndescription: Does things.\n---\n",
        "tool/scripts/show.sh": 'printf "[%s]\\n" "$@"; exit 3',
      },
      "tool",
    );
    await page.getByLabel("Arguments").focus();
    await page.keyboard.type("--in 'a b' \"\"");
    expect(
      await page.getByRole("list", { name: "Arguments as they are passed" }).getByRole("listitem").allTextContents(),
    ).toEqual(["--in", "a b", "empty"]);
    await page.keyboard.press("Enter");
    await ended(page, "Failed");
    await page.getByText("The script exited with code 3.").waitFor();
    expect(await page.getByRole("log").textContent()).toBe("[--in]\n[a b]\n[]\n");
  });

  test("a form that is being filled in is not changed by an edit on disk, and running asks to look again", async () => {
    const { page, runs } = await openTab(
      python("echo", "def main(args):\n    return args\n", '[inputs]\ntext = { type = "string" }\n'),
      "echo",
    );
    await page.getByRole("textbox", { name: /^text/ }).fill("half a sent");
    runs.write("echo/main.py", "def main(args):\n    return 'new'\n");
    await page.getByText("The skill changed on disk").waitFor();
    expect(await page.getByRole("textbox", { name: /^text/ }).inputValue()).toBe("half a sent");
    expect(await page.getByRole("button", { name: "Run", exact: true }).isDisabled()).toBe(true);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Look at the new version" }).click();
    expect(await page.getByRole("textbox", { name: /^text/ }).inputValue()).toBe("half a sent");
    await start(page);
    await ended(page, "Completed");
    await page.getByRole("group", { name: "Output" }).getByText('"new"').waitFor();
  });

  test("a run goes on while a person looks elsewhere, and is cancelled", async () => {
    const { page } = await openTab(
      python("endless", "import time\ndef main(args):\n    print('on', flush=True)\n    time.sleep(100)\n"),
      "endless",
    );
    await start(page);
    await page.getByRole("log").getByText("on").waitFor();
    await show(page, "endless", "history");
    await page.locator(".runs").getByText("Running").waitFor();
    await show(page, "endless", "run");
    await page.getByRole("log").getByText("on").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await ended(page, "Cancelled");
  });

  test("find, read, approve, run, see output, edit on disk, see it change, revoke", async () => {
    const network = '[permissions]\nnetwork = ["https://api.example.com"]\n';
    const { page, runs } = await openTab(
      {
        ...python("weather", "def main(args):\n    print('sunny')\n    return 'sun'\n", network),
        ...python("other", ""),
      },
      "other",
      { tab: "overview", allow: /403/ },
    );
    await page.getByRole("searchbox").fill("weath");
    await page.getByRole("option", { name: "weather" }).click();
    await page.getByRole("heading", { name: "weather" }).waitFor();
    await show(page, "weather", "run");
    await page.getByText("It needs your approval").waitFor();
    await start(page);
    await page
      .getByRole("alert")
      .getByText("The skill weather needs approval to connect to api.example.com.")
      .waitFor();
    await page.getByRole("link", { name: "Open the permissions tab" }).click();
    await decide(page, /^Approve/);
    await page.getByRole("option", { name: "weather" }).getByText("Needs approval").waitFor({ state: "detached" });
    await show(page, "weather", "run");
    await start(page);
    await ended(page, "Completed");
    await page.getByRole("log").getByText("sunny").waitFor();

    runs.write("weather/main.py", "def main(args):\n    print('rainy')\n    return 'rain'\n");
    await page.getByText("It changed since it was approved").waitFor();
    await show(page, "weather", "permissions");
    await decide(page, /^Approve/);
    await show(page, "weather", "run");
    await page.getByText("It changed since it was approved").waitFor({ state: "detached" });
    await start(page);
    await page.getByRole("log").getByText("rainy").waitFor();
    await ended(page, "Completed");

    await show(page, "weather", "permissions");
    const revoke = page.getByRole("button", { name: /^Revoke/ });
    await revoke.first().waitFor();
    for (;;) {
      if ((await revoke.count()) === 0) break;
      const before = await revoke.count();
      await revoke.first().click();
      await page
        .getByRole("dialog")
        .getByRole("button", { name: /Revoke/ })
        .click();
      await expect.poll(() => revoke.count()).toBeLessThan(before);
    }
    await show(page, "weather", "run");
    await page.getByText("It needs your approval").waitFor();
    await start(page);
    await page.getByRole("alert").getByText("PERMISSION_DENIED").waitFor();
    await show(page, "weather", "history");
    await page.getByText("Its files changed:").waitFor();
    await expectAccessible(page);
  });
});

/** What is in the clipboard, which the page itself may not read. */
async function pasted(field: Locator): Promise<string> {
  await field.fill("");
  await field.press("Control+V");
  return await field.inputValue();
}

async function decide(page: Page, name: RegExp): Promise<void> {
  await page.getByRole("region", { name: "Permissions" }).getByRole("button", { name }).first().click();
  await page.getByRole("dialog").getByRole("button", { name }).click();
}
