import { expect } from "vitest";
import type { Walks } from "./walks.js";

/** Expects each of these actions to have run, and in at most so many files of ours. */
export function expectWalks(walks: Walks, limits: Readonly<Record<string, number>>): void {
  for (const [action, most] of Object.entries(limits)) {
    const files = Object.keys(walks[action] ?? {});
    expect(files, action).not.toHaveLength(0);
    expect(files.length, `${action}: ${files.join(" ")}`).toBeLessThanOrEqual(most);
  }
}
