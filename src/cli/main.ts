#!/usr/bin/env node
import { nodeFault } from "../base/version.ts";

/** Nothing else is loaded before this check: an old Node cannot parse it. */
const fault = nodeFault(process.versions.node);
if (fault === undefined) {
  const { runCommand } = await import("./run-command.ts");
  process.exitCode = await runCommand(process.argv.slice(2));
} else {
  process.stderr.write(`acp-skills: ${fault}\n`);
  process.exitCode = 1;
}
