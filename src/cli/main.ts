#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";
import { nodeFault } from "../base/version.ts";

/** Checked before any other module is loaded, because an old Node cannot parse these modules. */
const fault = nodeFault(process.versions.node);
if (fault === undefined) {
  // Reading thousands of skills would grow the young generation to 16 MiB per semi-space, which costs 40 MB and is not faster.
  setFlagsFromString("--semi-space-growth-factor=1");
  const { runCommand } = await import("./run-command.ts");
  process.exitCode = await runCommand(process.argv.slice(2), process).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    return 3;
  });
} else {
  process.stderr.write(`acp-skills: ${fault}\n`);
  process.exitCode = 3;
}
