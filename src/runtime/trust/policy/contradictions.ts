import type { JsonNode } from "../../../base/json/json-text.ts";
import {
  type ListName,
  type PolicyFile,
  type PolicyGrant,
  type PolicyProblem,
  type ReportPolicyProblem,
  type SettingName,
  lists,
  settings,
} from "./policy-file.ts";
import { type PolicyLayer, banOf, denialsOf } from "./layers.ts";
import { matching } from "./rules.ts";
import { effectiveSettings, strictness } from "./merge-policies.ts";

interface Context {
  readonly home: string;
  readonly report: ReportPolicyProblem;
  readonly nodeAt: (path: readonly (string | number)[]) => JsonNode;
}

/** Reports what a policy both allows and denies. Such a policy is not used: which of the two was meant cannot be known. */
export function contradictionsIn(layer: PolicyLayer, context: Context): void {
  const { policy } = layer;
  if (policy === undefined) return;
  const { home, report, nodeAt } = context;
  for (const list of Object.keys(lists) as ListName[]) allowedAndDenied(policy, list, context);
  (policy.grants ?? []).forEach((grant, index) => {
    const why = whyIdle(layer, grant, home);
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
function whyIdle(layer: PolicyLayer, grant: PolicyGrant, home: string): string | undefined {
  if (layer.policy?.scripts === false) return '"scripts" is false';
  const { skill: name = "", source = "", capabilities: wants } = grant;
  const subject = { name, slug: name, version: "", isOwn: false, source: "", directory: "", origin: { source } };
  const denials = [...denialsOf(layer, { subject, wants, home })].filter(
    // Which license the skill has, and where it was found, is not in the grant.
    ({ path: [part] }) => part !== "sources" && part !== "licenses" && (part !== "skills" || grant.skill !== undefined),
  );
  const [first] = [...denials.filter(({ setting }) => setting === undefined), ...denials];
  return first && `the policy ${first.verdict}`;
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
