// One way to watch a root of many skills, measured from inside the process: prints {"milliseconds", "bytes"}.
import { readdirSync, watch } from "node:fs";
import { join } from "node:path";

const [, , way = "", root = ""] = process.argv;

const started = performance.now();
const kept = await open();
const milliseconds = performance.now() - started;
await new Promise((resolve) => setTimeout(resolve, 50));
globalThis.gc?.();
globalThis.gc?.();
process.stdout.write(JSON.stringify({ milliseconds, bytes: process.memoryUsage.rss() }));
process.exit(kept.length > 0 ? 0 : 1);

async function open() {
  switch (way) {
    case "nothing":
      return [way];
    case "floor":
      return [root, ...readdirSync(root).map((name) => join(root, name))].map((path) => watch(path, () => undefined));
    case "peer": {
      const { watch: watchByChokidar } = await import("chokidar");
      const watcher = watchByChokidar(root, { ignoreInitial: true });
      await new Promise((resolve) => watcher.on("ready", () => resolve(undefined)));
      return [watcher];
    }
    case "listed":
    case "watched": {
      const { Catalog } = await import("../../../.build/skills/skillset/catalog.js");
      const { diskSkillFiles } = await import("../../../.build/skills/files/disk-skill-files.js");
      const { openNativeWatcher } = await import("../../../.build/skills/skillset/native-watcher.js");
      const { systemClock } = await import("../../../.build/base/clock.js");
      const catalog = new Catalog({
        roots: [{ path: root, origin: "explicit" }],
        files: diskSkillFiles(),
        clock: systemClock,
        log: () => undefined,
        ...(way === "watched" && { openWatcher: openNativeWatcher }),
      });
      const { skills } = await catalog.ready;
      if (skills.length === 0) throw new Error("The catalog is empty.");
      return [catalog];
    }
    default:
      throw new Error(`unknown way ${way}`);
  }
}
