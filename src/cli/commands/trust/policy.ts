import { listing, notes } from "../../arguments/shared-options.ts";
import { defineCommand, usageError } from "../../command.ts";

export const command = defineCommand({
  usage: "policy check [FILE] | explain NAME [options]",
  positionals: { name: "action: check or explain", minimum: 1, maximum: 2, values: ["check", "explain"] },
  options: listing,
  examples: ["policy check", "policy check ./acp-skills.policy.json", "policy explain salesforce.leads.sync --json"],
  notes: [
    "check: validate the policies that count here: of the organisation, of $ACP_SKILLS_POLICY, and of the project; or one FILE.",
    "explain NAME: what the policies decide about a skill, and which rule decides it. Approvals of people are in acp-skills approvals.",
    notes.roots,
    "check exits with 1 if a file has an error, explain if there is no such skill or a --skills directory cannot be read.",
  ],
  async run({ options, positionals: [action = "", argument] }, terminal) {
    if (action !== "check" && action !== "explain") throw usageError(`unknown action ${action}; use check or explain`);
    if (action === "check") {
      const { checkPolicies } = await import("./policy/check-policies.ts");
      return await checkPolicies(argument, options, terminal);
    }
    if (argument === undefined) throw usageError("missing NAME");
    const { explainSkill } = await import("./policy/explain-skill.ts");
    return await explainSkill(argument, options, terminal);
  },
});
