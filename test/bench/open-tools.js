import { Catalog } from "../../.build/skills/skillset/catalog.js";
import { diskSkillFiles } from "../../.build/skills/files/disk-skill-files.js";
import { systemClock } from "../../.build/base/clock.js";
import { openApp } from "../../.build/runtime/app.js";
import { createCaller } from "../../.build/runtime/caller.js";
import { openLoopbackServer } from "../../.build/mcp/session-servers/loopback-server.js";
import { readOptions } from "../../.build/runtime/options.js";

/**
 * The tools for the skills below a root.
 * @typedef {object} OpenTools
 * @property {(tool: string, input: object) => Promise<unknown>} call
 * @property {() => ReturnType<ReturnType<typeof openLoopbackServer>["open"]>} openMcp
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
  const catalog = new Catalog({
    roots: [{ path: root, origin: "explicit" }],
    files: diskSkillFiles(),
    clock: systemClock,
    log,
  });
  await catalog.ready;
  const app = openApp(readOptions({ log, dataDirectory }));
  const mcp = openLoopbackServer(app);
  const session = { catalog, directory: undefined };
  const facts = { sessionId: "bench", owner: "bench" };
  return {
    call: (tool, input) => app.toolbox.call(tool, input, createCaller(session, { ...facts, transport: "in-process" })),
    openMcp: () => mcp.open(createCaller(session, { ...facts, transport: "mcp" })),
    async close() {
      await mcp.close();
      await Promise.all([app.close(), catalog.close()]);
    },
  };
}
