import { existsSync } from "node:fs";
import { knownAgents } from "../../../acp/negotiation.ts";
import { version } from "../../../base/version.ts";
import { type Settings, idleGrants, readOptions } from "../../../runtime/options.ts";
import { defaultRunLimits, maxTimeoutMs, openRunEnvironment } from "../../../runtime/runs.ts";
import { findCgroups, findCommand, findPython } from "../../../runtime/sandbox.ts";
import { agentCommands } from "../../agent-commands.ts";
import { loadClusterAdmin } from "../../../given-ports.ts";
import type { PolicyLayer } from "../../../runtime/trust.ts";
import { running, toRunningOptions } from "../../arguments/running-options.ts";
import { cwd, json, roots } from "../../arguments/shared-options.ts";
import { defineCommand, exit } from "../../command.ts";
import { policiesIn } from "../../arguments/policies.ts";
import { foreignFiles, storageFault } from "../../data-directory.ts";
import { type Listing, createListing } from "../../listing.ts";
import { homePath } from "../../../base/paths/location.ts";
import { labelled } from "../../report/safe-text.ts";
import type { Terminal } from "../../report/terminal.ts";

const mebibyte = 1024 * 1024;

export const command = defineCommand({
  options: { ...roots, ...running, cwd, json },
  notes: [
    "Runs a self-test of each way to isolate code, which takes a few seconds.",
    "With --cluster, or where ACP_SKILLS_CLUSTER is set, it also tries what a cluster needs.",
    "Exits with 1 if no code can be run, or the cluster cannot be used.",
  ],
  async run({ options: given }, terminal) {
    const runningOptions = toRunningOptions(given);
    const settings = readOptions({ log: terminal.log, ...runningOptions }, { home: terminal.home });
    const listing = await createListing(given, terminal);
    terminal.progress.show("running the self-tests of the sandboxes");
    const report = await examine(settings, listing, policiesIn(listing.directory, terminal));
    terminal.progress.done();
    if (given.json === true) await terminal.printJson(report);
    else await terminal.print(describe(report, terminal));
    return report.isolation === null || report.cluster?.usable === false ? exit.found : exit.done;
  },
});

type Report = Awaited<ReturnType<typeof examine>>;

/** Collects the facts that `--json` prints. */
async function examine(settings: Settings, { catalog, roots: searched }: Listing, policies: readonly PolicyLayer[]) {
  const environment = openRunEnvironment(settings);
  const [tiers, python] = await Promise.all([environment.report(), findPython()]).finally(() => environment.close());
  const problem = storageFault(settings.dataDirectory);
  const cluster =
    settings.cluster === undefined ? undefined : await (await loadClusterAdmin()).examineCluster(settings);
  return {
    version,
    node: { version: process.versions.node, executable: process.execPath },
    python: "reason" in python ? python : { version: python.version, executable: python.executable },
    /** The tier that runs use. */
    isolation: tiers.find(({ usable }) => usable)?.tier ?? null,
    tiers,
    limits: {
      timeout_ms: defaultRunLimits.timeoutMs,
      max_timeout_ms: maxTimeoutMs,
      memory_mb: defaultRunLimits.memoryBytes / mebibyte,
      processes: defaultRunLimits.processes,
      disk_mb: defaultRunLimits.diskBytes / mebibyte,
      concurrent_runs: environment.concurrency,
    },
    cgroup: toCgroup(),
    ...(cluster !== undefined && { cluster }),
    data_directory: settings.dataDirectory,
    ...(problem !== undefined && { data_directory_problem: problem }),
    foreign_files: problem === undefined ? foreignFiles(settings.dataDirectory) : [],
    roots: searched.map((root) => ({ path: root.path, exists: existsSync(root.path) })),
    skills: catalog.snapshot.skills.length,
    policies: policies.map(({ origin, file, policy }) => ({ origin, file, used: policy !== undefined })),
    grants: settings.grants.map((grant) => idleGrants([grant], catalog)[0] ?? { grant }),
    agents: [...agentCommands.keys()].flatMap((name) => {
      const path = findCommand(name);
      return path === undefined ? [] : [{ name, path }];
    }),
  };
}

/** See `kernel_memory.py`. */
const withoutCgroup =
  "Without one, kernel memory is limited indirectly: rulesets, watches and large pipes are refused; mappings, locks and sockets are counted; the rest is limited by the number of file descriptors only.";

function toCgroup() {
  const found = findCgroups();
  if ("parent" in found) return { usable: true as const, parent: found.parent };
  return { usable: false as const, reason: found.reason, consequence: withoutCgroup };
}

function* describe(report: Report, { paint, home }: Terminal): Iterable<string> {
  const line = labelled(paint, 14);
  const { version, node, python, isolation, tiers, limits, cgroup, cluster, roots, skills, policies, grants, agents } =
    report;
  yield line("acp-skills", version);
  yield line("node", `${node.version}  ${node.executable}`);
  yield line("python", "reason" in python ? python.reason : `${python.version}  ${python.executable}`);
  yield line("isolation", isolation ?? "not available: code execution is disabled");
  for (const { tier, usable, lacks = [], reason = "", fix = [] } of tiers) {
    const available = ["available", ...(lacks.length > 0 ? [`without ${lacks.join(", ")}`] : [])].join(", ");
    yield line(`  ${tier}`, usable ? `${available} (passed its self-test)` : reason);
    for (const command of fix) yield line("", `fix: ${command}`);
  }
  const { timeout_ms, max_timeout_ms, memory_mb, processes, disk_mb, concurrent_runs } = limits;
  const time = `${timeout_ms / 1000} s (at most ${max_timeout_ms / 1000} s)`;
  yield line(
    "run limits",
    `${time}, ${memory_mb} MiB memory, ${processes} processes, ${disk_mb} MiB disk; ${concurrent_runs} runs at a time`,
  );
  yield line("cgroup", cgroup.usable ? `one per sandbox, below ${cgroup.parent}` : `none: ${cgroup.reason}`);
  if (!cgroup.usable) yield line("", cgroup.consequence);
  if (cluster !== undefined) {
    const { usable, database = "", schema, faults } = cluster;
    yield line("cluster", usable ? `${database}, schema ${schema ?? ""}` : `cannot be used: ${database}`);
    for (const fault of faults) yield line("", fault);
  }
  yield line("data", homePath(report.data_directory, home));
  if (report.data_directory_problem !== undefined) yield line("", `cannot be used: ${report.data_directory_problem}`);
  for (const file of report.foreign_files) yield line("", `not of acp-skills, ignored; remove it: ${file}`);
  yield line("skills", String(skills));
  for (const root of roots)
    yield line("  root", `${homePath(root.path, home)}${root.exists ? "" : "  (does not exist)"}`);
  for (const { origin, file, used } of policies)
    yield line(
      "policy",
      `${homePath(file, home)}  (${origin}${used ? "" : ", not used: see acp-skills policy check"})`,
    );
  if (policies.length === 0) yield line("policy", "none");
  for (const found of grants)
    yield line("grant", "reason" in found ? `${found.grant}  (${found.reason})` : found.grant);
  yield line("agents", agents.length === 0 ? "no known agent is on PATH" : `${agents.length} on PATH`);
  for (const agent of agents) yield line(`  ${agent.name}`, homePath(agent.path, home));
  yield line("  ask first", `${agentsThatAsk(true)}: the user confirms every tool call that runs code`);
  yield line("  do not ask", `${agentsThatAsk(false)}, by default; see their settings`);
}

function agentsThatAsk(asks: boolean): string {
  return knownAgents.flatMap(({ label, asksBeforeCode }) => (asksBeforeCode === asks ? [label] : [])).join(", ");
}
