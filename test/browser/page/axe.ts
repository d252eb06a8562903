import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

type Axe = typeof axe;

/**
 * What axe has against the page as it is, by rule and place. It may not copy stylesheets into the page, which the policy forbids: only its rule about
 * locked orientation reads them.
 */
async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run(document, { preload: false });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary ?? ""}`),
    );
  });
}

export async function expectAccessible(page: Page): Promise<void> {
  expect(await accessibilityProblems(page)).toEqual([]);
}
