import { chmodSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { isSkillsError } from "../../.build/base/errors.js";
import { measureBlobRuns, writeBlobSkill } from "./blob-runs.js";
import { measureCold, measureWarm } from "./hello-runs.js";
import { measureIdlePool } from "./idle-pool.js";
import { measureMany } from "./many-runs.js";
import { openRuns } from "./open-runs.js";

/** @import { Bench } from "./main.js" */
/** @import { Row } from "./report.js" */

/**
 * Measures running code: a minimal run, many runs and what they leave behind, blobs, and an idle pool.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measureRunning({ folder, say }) {
  const skill = join(folder, "skills", "bench.copy");
  const temporary = join(folder, "temporary");
  for (const directory of [skill, temporary]) mkdirSync(directory, { recursive: true });
  writeBlobSkill(skill);
  // As root, sandboxes run as other users, which need access to the directory.
  for (const directory of [temporary, folder, dirname(folder)]) chmodSync(directory, 0o711);
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = temporary;
  try {
    const runs = await openRuns(folder);
    try {
      await runs.hello();
      /** @type {Row[]} */
      const rows = [];
      for (const measure of [measureWarm, measureCold, measureMany, measureIdlePool])
        rows.push(...(await measure(runs)));
      return [...rows, ...(await measureBlobRuns(runs, folder))];
    } finally {
      await runs.close();
    }
  } catch (error) {
    if (!isSkillsError(error) || error.code !== "SANDBOX_UNAVAILABLE") throw error;
    say(`skipped: ${error.message}`);
    return [];
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
}
