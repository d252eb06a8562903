import { openCatalog } from "../../dist/skills/catalog.js";
import { diskSkillFiles } from "../../dist/skills/files/disk-skill-files.js";
import { systemClock } from "../../dist/base/clock.js";
import { openToolkit } from "../../dist/toolkit.js";

/** @import { Toolkit } from "../../dist/toolkit.js" */

/**
 * The tools over the skills below a root.
 * @typedef {object} OpenTools
 * @property {(tool: string, input: object) => Promise<unknown>} call
 * @property {() => ReturnType<Toolkit["openMcp"]>} openMcp
 * @property {() => Promise<void>} close
 */

/**
 * @param {string} root
 * @param {string} dataDirectory
 * @returns {Promise<OpenTools>}
 */
export async function openTools(root, dataDirectory) {
  const log = (/** @type {string} */ level, /** @type {string} */ message) => {
    if (level !== "info") throw new Error(`told while measuring: ${message}`);
  };
  const catalog = openCatalog({
    roots: [{ path: root, origin: "explicit" }],
    files: diskSkillFiles(),
    clock: systemClock,
    log,
  });
  await catalog.ready;
  const toolkit = openToolkit({ log, clock: systemClock, version: "0.0.0", dataDirectory });
  const caller = { owner: "bench", sessionId: "bench", skills: catalog };
  return {
    call: (tool, input) => toolkit.toolbox.call(tool, input, { ...caller, door: "in-process" }),
    openMcp: () => toolkit.openMcp(caller, "http"),
    async close() {
      await Promise.all([toolkit.close(), catalog.close()]);
    },
  };
}
