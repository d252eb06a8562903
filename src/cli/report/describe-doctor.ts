import { knownAgents } from "../../acp/session/agents.ts";
import { safeText } from "./safe-text.ts";
import { shownPath } from "./shown-path.ts";
import type { Terminal } from "./terminal.ts";

/** What `acp-skills doctor --json` prints. */
export interface DoctorReport {
  readonly version: string;
  readonly node: { readonly version: string; readonly executable: string };
  readonly python: { readonly reason: string } | { readonly version: string; readonly executable: string };
  /** The tier that runs use. */
  readonly isolation: string | null;
  readonly tiers: readonly {
    readonly tier: string;
    readonly usable: boolean;
    readonly reason?: string;
    readonly fix?: readonly string[];
  }[];
  readonly limits: {
    readonly timeout_ms: number;
    readonly max_timeout_ms: number;
    readonly memory_mb: number;
    readonly processes: number;
    readonly disk_mb: number;
    readonly concurrent_runs: number;
  };
  readonly cgroup:
    | { readonly usable: true; readonly parent: string }
    | { readonly usable: false; readonly reason: string; readonly consequence: string };
  readonly data_directory: string;
  /** Why nothing can be stored there. */
  readonly data_directory_problem?: string;
  readonly roots: readonly { readonly path: string; readonly exists: boolean }[];
  readonly skills: number;
  readonly grants: readonly { readonly grant: string; readonly reason?: string }[];
  readonly agents: readonly { readonly name: string; readonly path: string }[];
}

const labelWidth = 14;

export function* describeDoctor(
  report: DoctorReport,
  { paint, home }: Pick<Terminal, "paint" | "home">,
): Iterable<string> {
  const line = (label: string, text: string): string => `${paint("dim", label.padEnd(labelWidth))}${safeText(text)}\n`;
  const { version, node, python, isolation, tiers, limits, cgroup, roots, skills, grants, agents } = report;
  yield line("acp-skills", version);
  yield line("node", `${node.version}  ${node.executable}`);
  yield line("python", "reason" in python ? python.reason : `${python.version}  ${python.executable}`);
  yield line("isolation", isolation ?? "none: code execution is disabled");
  for (const { tier, usable, reason = "", fix = [] } of tiers) {
    yield line(`  ${tier}`, usable ? "available (passed its self-test)" : reason);
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
  yield line("data", toHomePath(report.data_directory, home));
  if (report.data_directory_problem !== undefined) yield line("", `cannot be used: ${report.data_directory_problem}`);
  yield line("skills", String(skills));
  for (const root of roots)
    yield line("  root", `${toHomePath(root.path, home)}${root.exists ? "" : "  (does not exist)"}`);
  for (const { grant, reason } of grants) yield line("grant", reason === undefined ? grant : `${grant}  (${reason})`);
  yield line("agents", agents.length === 0 ? "no known agent is on PATH" : "");
  for (const agent of agents) yield line(`  ${agent.name}`, toHomePath(agent.path, home));
  yield line("  ask first", `${agentsThatAsk(true)}: the user confirms every tool call that runs code`);
  yield line("  do not ask", `${agentsThatAsk(false)}, by default; see their settings`);
}

function agentsThatAsk(asks: boolean): string {
  return knownAgents.flatMap(({ label, asksBeforeCode }) => (asksBeforeCode === asks ? [label] : [])).join(", ");
}

/** Relative to the home directory if it is below it. */
function toHomePath(file: string, home: string): string {
  const relative = shownPath(file, home);
  return relative === file ? file : relative === "." ? "~" : `~/${relative}`;
}
