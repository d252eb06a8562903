import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "vitest";
import { expectWalks } from "../../walks/expect-walks.ts";
import { walkBrowse } from "../../walks/walks.js";
import { describeInBrowser } from "./open-page.ts";

describeInBrowser("the skill browser", () => {
  test("walks through the skill browser are no longer than before", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "acp-skills-walks-"));
    try {
      expectWalks(await walkBrowse(folder), {
        "browse, first page": 24,
        "browse, one skill opened": 34,
        "browse, tab Manifest": 34,
        "browse, tab Permissions": 46,
        "browse, tab Run": 25,
      });
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    }
  });
});
