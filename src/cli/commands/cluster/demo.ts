import { mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { makeTemporary } from "../../../base/processes/temporary-directory.ts";
import { packageUrl } from "../../../base/paths/location.ts";
import { inParallel } from "../../../base/promises.ts";
import { loadClusterAdmin } from "../../../parts.ts";
import { readOptions } from "../../../runtime/options.ts";
import { newToken, toTokenDigest } from "../../../wire/http.ts";
import { exit, usageError } from "../../command.ts";
import { table } from "../../report/table.ts";
import { type Terminal, interruptible } from "../../report/terminal.ts";
import type { ClusterAction } from "../cluster.ts";
import { type TrialProcess, startTrialProcess } from "./trial-process.ts";
import { startTrialPostgres } from "./trial-postgres.ts";

const skillCount = 100;
const killAfter = 30;
/** Short, so that the runs of the killed worker are not waited for long. */
const leaseSeconds = 5;

export const demoAction: ClusterAction = async ({ options }, settings, terminal) =>
  await interruptible(terminal, async (signal) => {
    const { clusterNodeFault } = await loadClusterAdmin();
    const fault = clusterNodeFault();
    if (fault !== undefined) throw usageError(fault.replace("--cluster", "A cluster"));
    const directory = makeTemporary(realpathSync(tmpdir()), "demo");
    const started: Stoppable[] = [];
    try {
      const shown = await play({ directory, started, log: settings.log }, terminal, signal);
      const { members, ...report } = shown;
      if (options.json === true) await terminal.printJson(report);
      else await terminal.print(describe(members, report, terminal));
      return report.ok ? exit.done : exit.found;
    } finally {
      terminal.progress.done();
      // The database goes last.
      const [database, ...others] = started;
      await Promise.all(others.map(async (one) => await one.stop()));
      await database?.stop();
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    }
  });

/** What ends with the demo. */
interface Stoppable {
  readonly stop: () => Promise<void>;
}

interface Report {
  readonly database: string;
  readonly runs: number;
  readonly completed: number;
  /** Results that are not what the skill returns. */
  readonly wrong: number;
  /** Runs that a second worker executed. */
  readonly repeated: number;
  readonly seconds: number;
  readonly ok: boolean;
}

/** Lines of a table. */
type Members = readonly (readonly string[])[];

async function play(
  { directory, started, log }: { readonly directory: string; readonly started: Stoppable[] } & Pick<Terminal, "log">, // prettier-ignore
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Report & { readonly members: Members }> {
  const { migrateCluster, readClaims } = await loadClusterAdmin();
  const { progress } = terminal;
  progress.show("starting PostgreSQL");
  const postgres = await startTrialPostgres(signal);
  started.push(postgres);
  terminal.note(`${postgres.label}, on loopback`);
  const settings = readOptions({ log, cluster: postgres.url });
  await migrateCluster(settings);
  progress.show("starting two servers and two workers");
  const token = newToken();
  const config = path.join(directory, "serve.json");
  const digest = toTokenDigest(token).toString("hex");
  writeFileSync(config, JSON.stringify({ callers: [{ name: "demo", token: `sha256:${digest}` }] }));
  const startMember = async (name: string, words: readonly string[], ready: RegExp): Promise<TrialProcess> => {
    const home = path.join(directory, name);
    mkdirSync(home);
    const env = { PATH: process.env["PATH"], HOME: home, ACP_SKILLS_HOME: path.join(home, "data"), ACP_SKILLS_CLUSTER: postgres.url }; // prettier-ignore
    const member = await startTrialProcess(process.execPath, [fileURLToPath(packageUrl("cli/main.js")), ...words], { cwd: home, env, ready, signal }); // prettier-ignore
    started.push(member);
    return member;
  };
  const skills = path.join(directory, "skills");
  writeSkills(skills);
  const serve = ["serve", "--port", "0", "--config", config, "--skills", skills, "--no-default-roots"];
  const work = ["worker", "--concurrency", "2", "--lease", String(leaseSeconds), "--drain", "1"];
  const members = await Promise.all([
    startMember("server-1", serve, /listening on (\S+)/),
    startMember("server-2", serve, /listening on (\S+)/),
    startMember("worker-1", work, /worker (\S+) executes/),
    startMember("worker-2", work, /worker (\S+) executes/),
  ]);
  const [first, second, victim, survivor] = members;
  const startedAt = performance.now();
  const outcomes = { ended: 0, completed: 0, wrong: 0 };
  await inParallel([...Array(skillCount).keys()], 8, async (number) => {
    const [, url = ""] = (number % 2 === 0 ? first : second).found;
    const result = await execute(url, token, number, signal);
    outcomes.ended++;
    if (result?.status === "completed") outcomes.completed++;
    if (result?.status === "completed" && result.output?.square !== number ** 2) outcomes.wrong++;
    if (outcomes.ended === killAfter) {
      victim.kill();
      terminal.note(
        `killed worker 1 (process ${victim.pid}) after ${killAfter} runs; its runs go on when its lease has ended`,
      );
    }
    progress.show(`${outcomes.ended} of ${skillCount} skills`);
  });
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  const claims = await readClaims(settings);
  const repeated = claims.reduce((sum, claim) => sum + claim.repeated, 0);
  const { completed, wrong } = outcomes;
  const ok = completed === skillCount && wrong === 0 && claims.every(({ status }) => status === "completed");
  const row = (name: string, { pid, found }: TrialProcess, note: string): readonly string[] => {
    const own = claims.filter(({ worker }) => worker === found[1]);
    const count = own.reduce((sum, claim) => sum + claim.count, 0);
    return [name, String(pid), name.startsWith("server") ? "" : String(count), note];
  };
  return {
    ...{ database: postgres.label, runs: skillCount, completed, wrong, repeated, seconds, ok },
    members: [
      row("server 1", first, `asked for ${skillCount / 2} skills`),
      row("server 2", second, `asked for ${skillCount / 2} skills`),
      row("worker 1", victim, `killed after ${killAfter} runs`),
      row("worker 2", survivor, `${repeated} of them again, which worker 1 had begun`),
    ],
  };
}

function* describe(
  members: Members,
  { completed, runs, wrong, seconds, ok }: Report,
  terminal: Terminal,
): Iterable<string> {
  yield* table(["MEMBER", "PROCESS", "COMPLETED", ""], members, terminal);
  yield "\n";
  const lost = ok ? terminal.paint("green", "nothing was lost") : terminal.paint("red", "something was lost");
  yield `${completed} of ${runs} skills completed in ${seconds} s, ${wrong} with a wrong result: ${lost}.\n`;
}

/** Writes one action for each number. */
function writeSkills(directory: string): void {
  for (const number of Array(skillCount).keys()) {
    const place = path.join(directory, `square-${number}`);
    mkdirSync(place, { recursive: true });
    const name = `demo.square.n${number}`;
    const manifest = `name = "${name}"\nversion = "1.0.0"\ndescription = "Squares ${number}."\nkind = "action"\n`;
    writeFileSync(path.join(place, "SKILL.md"), `---\nname: ${name}\nshort_description: Squares ${number}.\n---\n`);
    writeFileSync(
      path.join(place, "skill.toml"),
      `${manifest}[runtime]\nlanguage = "python"\nentrypoint = "main.py"\n`,
    );
    writeFileSync(path.join(place, "main.py"), `import time\n\ndef main():\n    time.sleep(0.1)\n    return {"square": ${number} ** 2}\n`); // prettier-ignore
  }
}

interface DemoResult {
  readonly status?: string;
  readonly output?: { readonly square?: number };
}

/** Runs one skill through the HTTP door; undefined where it answered with an error. */
async function execute(
  url: string,
  token: string,
  number: number,
  signal: AbortSignal,
): Promise<DemoResult | undefined> {
  const params = { name: `demo.square.n${number}`, args: {} };
  const response = await fetch(`${url}/rpc`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: number, method: "execute_skill", params }),
    signal,
  });
  return ((await response.json()) as { readonly result?: DemoResult }).result;
}
