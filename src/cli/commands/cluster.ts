import { readOptions, type Settings } from "../../runtime/options.ts";
import { running, toRunningOptions } from "../arguments/running-options.ts";
import { json } from "../arguments/shared-options.ts";
import { oneOf } from "../arguments/values.ts";
import {
  type ExitCode,
  type OptionTable,
  type OptionValues,
  defineCommand,
  text,
  texts,
  usageError,
} from "../command.ts";
import type { Terminal } from "../report/terminal.ts";

/** The input of an action: the words after its name, and the options of the command. */
export interface ClusterWords {
  readonly words: readonly string[];
  readonly options: OptionValues<typeof options>;
}

/** One action of `acp-skills cluster`. Throws INVALID_OPTIONS for a usage error before it does anything. */
export type ClusterAction = (given: ClusterWords, settings: Settings, terminal: Terminal) => Promise<ExitCode>;

/** Every action: its usage, the maximum number of words after its name, and its loader. An action is one file and one line here. */
const actions: Readonly<
  Record<string, readonly [usage: string, mostWords: number, load: () => Promise<ClusterAction>]>
> = {
  migrate: [
    "migrate: create or change the tables of the database. Servers and workers of the version before go on.",
    0,
    async () => (await import("./cluster/migrate.ts")).migrateAction,
  ],
  status: [
    "status: servers, workers, runs that wait, leases and tables; exits with 1 if something is wrong.",
    0,
    async () => (await import("./cluster/status.ts")).statusAction,
  ],
  callers: [
    "callers list | add NAME | remove NAME: who may call all servers of the cluster, beside the callers of their files.",
    2,
    async () => (await import("./cluster/callers.ts")).callersAction,
  ],
  tokens: [
    "tokens new NAME | rotate NAME | revoke NAME|DIGEST: their tokens; a revoked one is refused everywhere at once.",
    2,
    async () => (await import("./cluster/tokens.ts")).tokensAction,
  ],
  policy: [
    "policy show | set FILE | remove: the policy of the organisation for all servers, wrappers and workers.",
    2,
    async () => (await import("./cluster/policy.ts")).policyAction,
  ],
  demo: [
    "demo: start a database, two servers and two workers here, run 100 skills, and kill a worker on the way.",
    0,
    async () => (await import("./cluster/demo.ts")).demoAction,
  ],
};

/** The options of the actions `callers` and `tokens`. */
const ofCallers = {
  skills: texts("PATTERN", "callers add: what it sees. Default: all skills. Repeatable."),
  tools: texts("TOOL", "callers add: what it may call. Default: all tools. Repeatable."),
  grant: texts("NAME@DIGEST", "callers add: what its runs may do: NAME@DIGEST[:PERMISSION,…]. Repeatable."),
  secret: texts("NAME", "callers add: a secret that its runs may get. Repeatable."),
  days: text("N", "tokens new: for how long it is valid. Default: until it is revoked."),
  overlap: text("HOURS", "tokens rotate: how long the tokens from before are valid. Default: 24."),
} as const satisfies OptionTable;

/** Actions that work without a database of the user. */
const ownDatabase: readonly string[] = ["demo"];

const options = { cluster: running.cluster, ...ofCallers, json } as const satisfies OptionTable;

export const command = defineCommand({
  usage: `cluster ${Object.keys(actions).join(" | ")} [options]`,
  positionals: { name: "action", minimum: 1, maximum: 8, values: Object.keys(actions) },
  options,
  examples: [
    "cluster migrate --cluster postgres://acp@db.example.com/skills",
    "cluster status --json",
    "cluster callers add ci --skills 'acme.*'",
    "cluster tokens new ci --days 90",
    "cluster demo",
  ],
  notes: [
    ...Object.values(actions).map(([usage]) => usage),
    "The database is that of --cluster or $ACP_SKILLS_CLUSTER. A password belongs into the variable, PGPASSWORD, or a file that PGPASSFILE names.",
  ],
  async run({ options: given, positionals: [name = "", ...words] }, terminal) {
    const [, maxWords = 0, load] = actions[name] ?? [];
    if (load === undefined) throw usageError(`unknown action ${name}; use ${oneOf(Object.keys(actions))}`);
    const unexpected = words[maxWords];
    if (unexpected !== undefined) throw usageError(`unexpected argument ${unexpected}`);
    for (const option of Object.keys(ofCallers) as (keyof typeof ofCallers)[])
      if (given[option] !== undefined && !ofCallers[option].help.startsWith(`${[name, words[0]].join(" ")}:`))
        throw usageError(`cluster ${[name, words[0] ?? ""].join(" ").trim()} has no option --${option}`);
    const settings = readOptions({ log: terminal.log, ...toRunningOptions(given) }, { home: terminal.home });
    if (settings.cluster === undefined && !ownDatabase.includes(name))
      throw usageError("which database? Give --cluster URL, or set ACP_SKILLS_CLUSTER");
    const action = await load();
    return await action({ words, options: given }, settings, terminal);
  },
});
