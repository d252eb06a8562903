import type { Capabilities } from "../../../skills/permissions.ts";
import type { JsonNode } from "../../../base/json/json-text.ts";
import {
  type ListName,
  type PolicyFile,
  type PolicyGrant,
  type PolicyProblem,
  type ReportPolicyProblem,
  type SettingName,
  defaultPolicySettings,
  lists,
  settings,
} from "./policy-file.ts";
import { type PolicyLayer, banOf } from "./layers.ts";
import { matching } from "./rules.ts";
import { effectiveSettings, strictness } from "./merge-policies.ts";

interface Context {
  readonly home: string;
  readonly report: ReportPolicyProblem;
  readonly nodeAt: (path: readonly (string | number)[]) => JsonNode;
}

/** Reports what a policy both allows and denies. Such a policy is not used: which of the two was meant cannot be known. */
export function contradictionsIn(policy: PolicyFile, context: Context): void {
  const { report, nodeAt } = context;
  for (const list of Object.keys(lists) as ListName[]) allowedAndDenied(policy, list, context);
  (policy.grants ?? []).forEach((grant, index) => {
    const why = whyIdle(policy, grant, context.home);
    if (why === undefined) return;
    report("policy-contradiction", nodeAt(["grants", index]), `the grant has no effect: ${why}`, "Remove one of them.");
  });
  const ban = policy.isolation === undefined ? banOf(policy) : undefined;
  if (ban !== undefined) {
    const message = `"${ban}" has rules, which only a sandbox enforces: running without one is denied, too`;
    const fix = 'Write "isolation": "sandbox" to say so, or "isolation": "none" to allow it to those who are approved.';
    report("policy-implied", nodeAt([ban]), message, fix, "warning");
  }
  if (policy.prompts === false && policy.approvals === "once") {
    const message = '"approvals" is "once", which only a prompt can give, and "prompts" is false';
    report("policy-contradiction", nodeAt(["approvals"]), message, 'Set "approvals" to "none", or "prompts" to true.');
  }
}

function allowedAndDenied(policy: PolicyFile, list: ListName, { home, report, nodeAt }: Context): void {
  const { allow = [], deny = [] } = policy[list] ?? {};
  allow.forEach((entry, index) => {
    const denied = deny.find((other) => matching[list].contains(other, entry, home));
    if (denied === undefined) return;
    const message = `${list}.allow has "${entry}", which ${list}.deny has as "${denied}"`;
    report("policy-contradiction", nodeAt([list, "allow", index]), message, "Remove one of them.");
  });
}

/** Why a grant would never count, as the rest of the policy denies it. */
function whyIdle(policy: PolicyFile, { skill, capabilities }: PolicyGrant, home: string): string | undefined {
  if (policy.scripts === false) return '"scripts" is false';
  const isDenied = skill !== undefined && deniedBy(policy, "skills", skill, home);
  return isDenied ? `the policy denies the skill ${skill}` : deniedCapability(policy, capabilities, home);
}

function deniedCapability(policy: PolicyFile, capabilities: Capabilities, home: string): string | undefined {
  const { isolation, project } = { ...defaultPolicySettings, ...policy };
  if (capabilities.isolation !== undefined && isolation === "sandbox") return '"isolation" is "sandbox"';
  if (capabilities.project === "write" && project !== "write") return `"project" is "${project}"`;
  if (capabilities.project === "read" && project === "none") return '"project" is "none"';
  const asked = [
    ...capabilities.network.map((name) => ["hosts", "host", name] as const),
    ...capabilities.secrets.map((name) => ["secrets", "secret", name] as const),
  ];
  const denied = asked.find(([list, , name]) => deniedBy(policy, list, name, home));
  if (denied !== undefined) return `the policy denies the ${denied[1]} ${denied[2]}`;
  const ban = policy.isolation === undefined && capabilities.isolation !== undefined ? banOf(policy) : undefined;
  return ban && `"${ban}" has rules, and no "isolation" says that it may be "none"`;
}

function deniedBy(policy: PolicyFile, list: ListName, name: string, home: string): boolean {
  const { allow, deny = [] } = policy[list] ?? {};
  const isAllowed = allow?.some((entry) => matching[list].contains(entry, name, home)) !== false;
  return !isAllowed || deny.some((entry) => matching[list].overlaps(entry, name));
}

/** What a file tries to allow beyond those before it; it has no effect. */
export function looseningsOf(
  layer: PolicyLayer,
  before: readonly PolicyLayer[],
  home: string,
): readonly PolicyProblem[] {
  const { policy, origin } = layer;
  if (policy === undefined) return [];
  const above = before.filter((other) => other.origin !== origin);
  const problem = (path: readonly (string | number)[], message: string, fix: string): PolicyProblem => ({
    code: "policy-loosens",
    severity: "warning",
    ...layer.placeOf(path),
    message: `${message}; it has no effect`,
    fix,
  });
  const isLimited = origin === "project" || effectiveSettings(above).approvals.value !== "everywhere";
  return [
    ...(isLimited && policy.grants !== undefined
      ? [problem(["grants"], `${origin === "project" ? "a project" : "this file"} cannot grant anything`, "Remove it.")]
      : []),
    ...loosenedSettings(layer, above, problem),
    ...(Object.keys(lists) as ListName[]).flatMap((list) =>
      (policy[list]?.allow ?? []).flatMap((entry, index) => {
        const denied = above.find((other) => isDeniedBy(other, list, entry, home));
        const message = `${list}.allow has "${entry}", which ${denied?.file ?? ""} denies`;
        return denied === undefined ? [] : [problem([list, "allow", index], message, "Remove it.")];
      }),
    ),
  ];
}

type ToProblem = (path: readonly (string | number)[], message: string, fix: string) => PolicyProblem;

function loosenedSettings(
  { policy, origin }: PolicyLayer,
  above: readonly PolicyLayer[],
  problem: ToProblem,
): readonly PolicyProblem[] {
  const settled = effectiveSettings(above);
  return (Object.keys(settings) as SettingName[]).flatMap((name) => {
    const value = policy?.[name];
    const { value: least, layer } = settled[name];
    if (value === undefined || strictness(name, value) >= strictness(name, least)) return [];
    // Nobody before it has decided: only a project cannot either.
    if (layer === undefined && origin !== "project") return [];
    const message = `"${name}" is ${JSON.stringify(value)}, which is less strict than ${JSON.stringify(least)}${layer === undefined ? ", the default" : ` in ${layer.file}`}`;
    return [problem([name], message, "Remove it.")];
  });
}

/** Whether a policy denies everything that an entry stands for. */
function isDeniedBy({ policy }: PolicyLayer, list: ListName, entry: string, home: string): boolean {
  const { allow, deny = [] } = policy?.[list] ?? {};
  if (deny.some((other) => matching[list].contains(other, entry, home))) return true;
  return (
    allow !== undefined && !entry.includes("*") && !allow.some((other) => matching[list].contains(other, entry, home))
  );
}
