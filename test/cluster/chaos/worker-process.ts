// A worker as a process that tests kill: arguments are the URL of the cluster and a data directory.
import { readOptions } from "../../../src/runtime/options.ts";
import { runWorker } from "../../../src/cluster/worker.ts";

const [cluster, dataDirectory] = process.argv.slice(2);
const settings = readOptions({
  cluster,
  dataDirectory,
  defaultRoots: false,
  log: (level: string, message: string) => process.stderr.write(`${level} ${message}\n`),
});
const options = { concurrency: 3, labels: [], drainMs: 1_000, leaseMs: 3_000 };
await runWorker(
  settings,
  { ...options, started: () => process.stdout.write("started\n") },
  new AbortController().signal,
);
