import { once } from "node:events";
import { MessageChannel } from "node:worker_threads";
import { expect, test } from "vitest";
import { serveSkills } from "../../../src/acp/service/serve-skills.ts";
import { openApp } from "../../../src/runtime/app.ts";
import type { Log } from "../../../src/base/log.ts";
import { readOptions } from "../../../src/runtime/options.ts";
import { memorySkillset, offer } from "../memory-skillset.ts";

const opening = { cwd: "/p", additionalDirectories: [], asksVisible: false, canAsk: false };

test.each([
  [
    "the session cannot be opened",
    {
      openSession: () => {
        throw new Error("broken");
      },
    },
  ],
  ["the tools cannot be loaded", { load: () => Promise.reject(new Error("broken")) }],
])("closes the port and logs why if %s, and throws nothing on the thread of other sessions", async (_what, broken) => {
  const logged: string[] = [];
  const log: Log = (level, message) => void logged.push(`${level} ${message}`);
  const settings = readOptions({ log });
  const app = Object.assign(openApp(settings, { skillset: memorySkillset([offer("pdf")]) }), broken);
  const { port1, port2 } = new MessageChannel();
  const closed = once(port1, "close");
  serveSkills(port2, opening, { app, settings });
  port1.postMessage({ kind: "open", call: 1 });
  await closed;
  expect(logged).toEqual(["error Skills cannot be read: Error: broken"]);
});
