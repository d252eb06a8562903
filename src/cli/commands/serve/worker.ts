import { availableParallelism } from "node:os";
import { isIP } from "node:net";
import { loadClusterAdmin, loadClusterWorker } from "../../../given-ports.ts";
import { readOptions } from "../../../runtime/options.ts";
import { running, toRunningOptions } from "../../arguments/running-options.ts";
import { parseNumber, reasonOf } from "../../arguments/values.ts";
import { choice, defineCommand, exit, text, usageError } from "../../command.ts";
import { onInterruption } from "../../report/terminal.ts";

const maxConcurrency = 1_000;
const maxLabels = 32;
const maxDrainSeconds = 3_600;
const defaultDrainSeconds = 30;
/** Longer than the usual failover of a database. */
const defaultLeaseSeconds = 45;
const leaseRange = [5, 3_600] as const;

export const command = defineCommand({
  options: {
    cluster: running.cluster,
    concurrency: text("NUMBER", `Runs at a time. Default: the number of processors, here ${availableParallelism()}.`),
    labels: text(
      "WORD,NAME=VALUE,…",
      "What runs can ask for besides tier, arch and os, which the worker finds out itself. Up to 32.",
    ),
    drain: text(
      "SECONDS",
      `After SIGTERM: how long runs may go on; then they are handed back. Default: ${defaultDrainSeconds}.`,
    ),
    lease: text(
      "SECONDS",
      `Others execute its runs when nothing was heard of it for so long. Default: ${defaultLeaseSeconds}.`,
    ),
    metrics: text("[HOST:]PORT", "Serve /metrics, /healthz and /readyz there. Default of HOST: 127.0.0.1."),
    "log-level": choice(["debug", "info", "warning", "error"], "JSON on stderr. Default: info."),
    isolation: running.isolation,
    "secrets-file": running["secrets-file"],
  },
  examples: [
    "worker --cluster postgres://acp@db.example.com/skills --concurrency 4",
    "worker --labels gpu,region=eu --metrics 9464",
  ],
  notes: [
    "SIGTERM ends it: it takes no further runs, waits for those that it has, and hands back the rest. A second signal ends it at once; its runs are given to others when its lease ends.",
  ],
  async run({ options }, terminal) {
    const concurrency = parseNumber("--concurrency", options.concurrency ?? String(availableParallelism()), [
      1,
      maxConcurrency,
    ]);
    const drain = parseNumber("--drain", options.drain ?? String(defaultDrainSeconds), [0, maxDrainSeconds]);
    const lease = parseNumber("--lease", options.lease ?? String(defaultLeaseSeconds), leaseRange);
    const labels = readLabels(options.labels ?? "");
    const monitored = options.metrics === undefined ? undefined : parseAddress(options.metrics);
    const given = toRunningOptions(options);
    const { createHttpLog } = await import("../../../serve/telemetry.ts");
    const { log } = await createHttpLog({ level: options["log-level"] ?? "info" });
    const settings = readOptions({ log, ...given }, { home: terminal.home });
    if (settings.cluster === undefined)
      throw usageError("which database? Give --cluster URL, or set ACP_SKILLS_CLUSTER");
    const { runWorker } = await loadClusterWorker();
    const { openWorkerMonitor } = await loadClusterAdmin();
    const { signal, stop } = onInterruption();
    let isStarted = false;
    const isReady = (): boolean => isStarted && !signal.aborted;
    const monitor =
      monitored &&
      (await openWorkerMonitor(settings, { ...monitored, isReady }).catch((error: unknown) =>
        refuseAddress(options.metrics ?? "", error),
      ));
    try {
      if (monitor !== undefined) terminal.note(`metrics and probes on ${monitor.url}`);
      const times = { drainMs: drain * 1_000, leaseMs: lease * 1_000 };
      await runWorker(settings, { concurrency, labels, started, ...times }, signal);
      terminal.note("the worker has stopped");
    } finally {
      stop();
      await monitor?.close();
    }
    return exit.interrupted;

    function started(worker: { readonly id: string; readonly labels: readonly string[] }): void {
      isStarted = true;
      terminal.note(`worker ${worker.id} executes up to ${concurrency} runs at a time: ${worker.labels.join(", ")}`);
    }
  },
});

const labelForm = /^[a-z0-9][a-z0-9._-]{0,62}(?:=[A-Za-z0-9][A-Za-z0-9._-]{0,62})?$/;
/** Labels that a worker determines itself, so that they are true. */
const ownLabels = /^(?:tier|arch|os)(?:=|$)/;

/** Parses a worker's labels, each once. Throws INVALID_OPTIONS for an invalid one, or one that the worker determines itself. */
export function readLabels(given: string): readonly string[] {
  const labels = [...new Set(given.split(",").filter((label) => label !== ""))];
  if (labels.length > maxLabels) throw usageError(`--labels takes up to ${maxLabels} labels, not ${labels.length}`);
  for (const label of labels) {
    if (ownLabels.test(label))
      throw usageError(`--labels ${label}: tier, arch and os are found out by the worker; leave them out`);
    if (!labelForm.test(label))
      throw usageError(
        `--labels ${label}: a label is a word such as gpu, or NAME=VALUE such as region=eu: lower-case letters, digits, dots, hyphens and underscores, up to 63 characters each`,
      );
  }
  return labels;
}

/** Parses a port, or an address and a port. Throws INVALID_OPTIONS. */
function parseAddress(given: string): { readonly host: string; readonly port: number } {
  const [, host = "127.0.0.1", port = ""] = /^(?:\[?([\da-fA-F:.]+)\]?:)?(\d{1,5})$/.exec(given) ?? [];
  if (isIP(host) === 0 || port === "")
    throw usageError(`--metrics needs a port, or an address and a port such as 0.0.0.0:9464, not ${given}`);
  return { host, port: parseNumber("--metrics", port, [0, 65_535]) };
}

function refuseAddress(given: string, error: unknown): never {
  if (error instanceof Error && "syscall" in error)
    throw usageError(`--metrics ${given} cannot be used: ${reasonOf(error)}`);
  throw error;
}
