import { openPolling } from "../../../../src/skills/skillset/watch/polling-watcher.ts";
import { diskTree } from "../../../contract/disk-tree.ts";
import { describeSkillWatcher } from "../../../contract/skill-watcher.ts";

describeSkillWatcher("polling", () => diskTree((hint) => openPolling(hint, { intervalMs: 20 })));
