/** Runs the code of its argument without a sandbox, and prints what it prints. For tests that kill this process meanwhile. */
import { silentLog } from "../../../.build/base/log.js";
import { systemClock } from "../../../.build/base/clock.js";
import { openUnconfinedSandbox } from "../../../.build/runtime/sandbox/unconfined-sandbox.js";

const [code = ""] = process.argv.slice(2);
const sandbox = await openUnconfinedSandbox({ clock: systemClock, log: silentLog });
if ("reason" in sandbox) throw new Error(sandbox.reason);
const mebibyte = 1024 * 1024;

/** @type {import("../../../.build/runtime/sandbox.js").SandboxRun} */
const run = {
  runId: "run_0000000000",
  program: { type: "code", code, entrypoint: "main", args: null },
  isolation: "none",
  skills: [],
  brokered: [],
  blobs: [],
  secrets: {},
  network: [],
  limits: {
    timeoutMs: 600_000,
    memoryBytes: 512 * mebibyte,
    processes: 32,
    diskBytes: mebibyte,
    printedBytes: mebibyte,
    resultBytes: mebibyte,
    outputFiles: 1,
  },
};
const refused = () => Promise.reject(new Error("Not expected."));
await sandbox.run(
  run,
  {
    print: (_stream, bytes) => void process.stdout.write(bytes),
    hide: (text) => text,
    createBlob: refused,
    callSkill: refused,
    output: refused,
  },
  new AbortController().signal,
);
