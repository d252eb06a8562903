import { loadClusterAdmin } from "../../../given-ports.ts";
import { exit } from "../../command.ts";
import { labelled, safeText } from "../../report/safe-text.ts";
import { table } from "../../report/table.ts";
import type { Terminal } from "../../report/terminal.ts";
import type { ClusterAction } from "../cluster.ts";

type Admin = Awaited<ReturnType<typeof loadClusterAdmin>>;
type Status = Awaited<ReturnType<Admin["readStatus"]>>;

export const statusAction: ClusterAction = async ({ options }, settings, terminal) => {
  const { inCluster, readStatus, findProblems, parseClusterUrl, toDuration } = await loadClusterAdmin();
  const status = await inCluster(settings, readStatus);
  const problems = findProblems(status);
  const { label } = parseClusterUrl(settings.cluster ?? "");
  if (options.json === true) await terminal.printJson({ database: label, ...status, problems });
  else await terminal.print(describe({ label, status, problems, toDuration }, terminal));
  return problems.length === 0 ? exit.done : exit.found;
};

/** The maximum number of shown rows of a list; `--json` has all rows. */
const maxShown = 20;
const mebibyte = 1024 * 1024;

function* describe(
  { label, status, problems, toDuration }: { readonly label: string; readonly status: Status; readonly problems: readonly string[] } & Pick<Admin, "toDuration">, // prettier-ignore
  terminal: Terminal,
): Iterable<string> {
  const { version, schema, members, runs, queue, leases, tables } = status;
  const line = labelled(terminal.paint, 12);
  const inLease = (seconds: number): string =>
    seconds > 0 ? toDuration(seconds) : `ended ${toDuration(-seconds)} ago`;
  function* list(titles: readonly string[], rows: readonly (readonly (string | number)[])[]): Iterable<string> {
    if (rows.length === 0) return;
    const shown = rows.slice(0, maxShown).map((row) => row.map((cell) => safeText(String(cell))));
    yield "\n";
    yield* table(titles, shown, terminal);
    if (rows.length > maxShown) yield `and ${rows.length - maxShown} more; see --json\n`;
  }
  yield line("acp-skills", version);
  yield line("database", label);
  yield line("schema", `${schema.number}, for programs since ${schema.oldest}`);
  yield line("size", `${(tables.reduce((sum, { bytes }) => sum + bytes, 0) / mebibyte).toFixed(1)} MiB`);
  yield line("runs", `${runs.queued} waiting, ${runs.running} running`);
  yield line("members", members.length === 0 ? "none" : "");
  yield* list(
    ["KIND", "HOST", "PROCESS", "VERSION", "AGE", "LEASE", "RUNS", "LABELS"],
    members.map((one) => [
      ...[one.kind, one.host, one.pid, one.version, toDuration(one.age_seconds), inLease(one.lease_seconds)],
      ...[one.kind === "worker" ? one.concurrency : "", one.labels.join(",")],
    ]),
  );
  yield* list(
    ["WAITING", "OLDEST", "LABELS"],
    queue.map(({ waiting, oldest_seconds, labels }) => [
      waiting,
      toDuration(oldest_seconds),
      labels.join(",") || "any",
    ]),
  );
  const hosts = new Map(members.map(({ id, host, pid }) => [id, `${host} ${pid}`]));
  yield* list(
    ["RUNNING", "AGE", "LEASE", "FENCE", "WORKER"],
    leases.map(({ run_id, age_seconds, lease_seconds, fence, worker }) => [
      ...[run_id, toDuration(age_seconds), inLease(lease_seconds), fence],
      worker === null ? "" : (hosts.get(worker) ?? worker),
    ]),
  );
  yield* list(
    ["TABLE", "MIB", "ROWS"],
    tables.map(({ name, bytes, rows }) => [name, (bytes / mebibyte).toFixed(1), rows]),
  );
  if (problems.length > 0) yield "\n";
  for (const problem of problems) yield `${terminal.paint("yellow", safeText(problem))}\n`;
}
