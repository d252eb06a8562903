// A worker as a process that tests kill: arguments are the URL of the cluster, a data directory, and how many runs at a time.
import { stayingFor } from "../../../src/base/promises.ts";
import { readOptions } from "../../../src/runtime/options.ts";
import { runWorker } from "../../../src/cluster/worker.ts";

const [cluster, dataDirectory, concurrency = "3"] = process.argv.slice(2);
const settings = readOptions({
  cluster,
  dataDirectory,
  defaultRoots: false,
  log: (level: string, message: string) => process.stderr.write(`${level} ${message}\n`),
});
const options = { concurrency: Number(concurrency), labels: [], drainMs: 1_000, leaseMs: 3_000 };
const started = (): void => void process.stdout.write("started\n");
await stayingFor(runWorker(settings, { ...options, started }, new AbortController().signal));
