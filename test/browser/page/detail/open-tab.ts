import type { Page } from "playwright-core";

export const tabNames = ["overview", "files", "manifest", "problems", "permissions", "environment", "license"] as const;

/** Opens a tab of a skill by its address, and waits until it is shown. */
export async function openTab(page: Page, skill: string, tab: string): Promise<void> {
  await page.evaluate(
    (hash) => {
      location.hash = hash;
    },
    `#/skills/${encodeURIComponent(skill)}/${tab}`,
  );
  const title = `${tab.slice(0, 1).toUpperCase()}${tab.slice(1)}`;
  await page.getByRole("region", { name: title, exact: true }).waitFor();
}
