import path from "node:path";
import { localLedger } from "../../../runtime/ledger.ts";
import { type ApprovalStore, diskApprovals } from "../../../runtime/trust.ts";
import { cluster, recordsOfCluster } from "../../arguments/cluster-option.ts";
import { cwd, json, dataNote, roots } from "../../arguments/shared-options.ts";
import { oneOf } from "../../arguments/values.ts";
import { type OptionValues, defineCommand, usageError, flag, choice, text, type ExitCode } from "../../command.ts";
import { defaultDataDirectory } from "../../../base/paths/directories.ts";
import type { Terminal } from "../../report/terminal.ts";
import { blockSkill, grantApproval } from "./approvals/grant-approval.ts";
import { listApprovals, showApproval, revokeApprovals, unblockSkills } from "./approvals/list-approvals.ts";
import { recordChanges } from "./approvals/record-changes.ts";
import { exportApprovals, importApprovals } from "./approvals/transfer-approvals.ts";

const options = {
  project: flag("grant, revoke: models may read the skills that came with this project."),
  scope: choice(["project", "everywhere"], "grant, block: where it holds. Default: see below."),
  all: flag("revoke, unblock: in all projects."),
  "for-project": text("DIR", "import: what was exported for a project is for that of DIR."),
  expires: text("DURATION|DATE", "grant: until when, such as 12h, 30d or 2027-01-31."),
  "called-by": text("NAME", "grant: for calls by the code of this skill."),
  ...roots,
  cwd,
  cluster,
  json,
} as const;

/** The input of every action. */
export interface Approving {
  readonly targets: readonly string[];
  readonly options: OptionValues<typeof options>;
  readonly store: ApprovalStore;
  readonly terminal: Terminal;
}

interface Action {
  act(given: Approving): Promise<ExitCode>;
  readonly minTargets: number;
  readonly maxTargets: number;
  /** Options besides those that every action knows. */
  readonly knows: readonly (keyof typeof options)[];
}

/** Every action, with the number of its targets and its options. */
const actions: Readonly<Record<string, Action>> = {
  list: { act: listApprovals, minTargets: 0, maxTargets: 0, knows: [] },
  show: { act: showApproval, minTargets: 1, maxTargets: 1, knows: [] },
  grant: { act: grantApproval, minTargets: 0, maxTargets: 1, knows: ["project", "scope", "expires", "called-by"] },
  block: { act: blockSkill, minTargets: 1, maxTargets: 1, knows: ["scope"] },
  unblock: { act: unblockSkills, minTargets: 1, maxTargets: Infinity, knows: ["all"] },
  revoke: { act: revokeApprovals, minTargets: 0, maxTargets: Infinity, knows: ["project", "all"] },
  export: { act: exportApprovals, minTargets: 0, maxTargets: 0, knows: [] },
  import: { act: importApprovals, minTargets: 1, maxTargets: 1, knows: ["for-project"] },
};
const knownToAll: readonly string[] = [...Object.keys(roots), "cwd", "cluster", "json"];
const choices = oneOf(Object.keys(actions));

export const command = defineCommand({
  usage: `approvals ${Object.keys(actions).join("|")} [NAME|ID|FILE…] [options]`,
  positionals: { name: `action: ${choices}`, minimum: 1, maximum: Infinity, values: Object.keys(actions) },
  options,
  examples: [
    "approvals list",
    "approvals grant deploy --expires 30d",
    "approvals grant --project",
    "approvals block deploy",
    "approvals revoke deploy",
    "approvals export > approvals.json",
  ],
  notes: [
    "list: what you allowed and blocked, everywhere and in every project. show NAME|ID: the same of one skill, and what changed since.",
    "grant NAME or NAME@DIGEST: allow exactly the version that is installed to do all that it requests: everywhere if it is your own and requests no access to the project, else in the project of --cwd.",
    "block NAME: no version of it runs or is read, as with Block in an editor; some editors do not show that answer. Everywhere, or in the project that it came with. unblock NAME…: remove blocks only.",
    "revoke NAME|ID…: remove grants and blocks of this project and those for everywhere; the next run asks again. export: everything as JSON. import FILE: add what another machine exported.",
    "An organisation approves for many people at once with grants in its policy: acp-skills policy --help.",
    "With --cluster: what is stored for your role of the database, and counts at all servers and workers of the cluster.",
    dataNote,
  ],
  async run({ options: given, positionals: [action = "", ...targets] }, terminal) {
    const chosen = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (chosen === undefined) throw usageError(`unknown action ${action}; use ${choices}`);
    for (const name of Object.keys(given) as (keyof typeof options)[])
      if (!chosen.knows.includes(name) && !knownToAll.includes(name))
        throw usageError(`approvals ${action} has no option --${name}`);
    const minTargets = given.project === true ? 0 : action === "grant" || action === "revoke" ? 1 : chosen.minTargets;
    if (targets.length < minTargets) throw usageError(action === "import" ? "missing FILE" : "missing NAME");
    const surplus = targets[given.project === true ? 0 : chosen.maxTargets];
    if (surplus !== undefined) throw usageError(`unexpected argument ${surplus}`);
    const { log } = terminal;
    const directory = defaultDataDirectory(terminal.home);
    const shared = await recordsOfCluster(given.cluster, terminal);
    const ledger = shared?.ledger ?? localLedger(directory, { log });
    try {
      const store = recordChanges(shared?.approvals ?? diskApprovals(path.join(directory, "trust"), { log }), ledger);
      return await chosen.act({ targets, options: given, store, terminal });
    } finally {
      ledger.close();
      await shared?.close();
    }
  },
});
