import { together } from "../../../skills/permissions.ts";
import {
  type Denial,
  type PolicyLayer,
  banOf,
  denialsOf,
  licenseDenials,
  skillDenialsOf,
  urlDenials,
} from "./layers.ts";
import {
  type ListName,
  type PolicyFile,
  type PolicyGrant,
  type PolicyProblem,
  type PolicySettings,
  type ReportPolicyProblem,
  type SettingName,
  lists,
  settings,
} from "./policy-file.ts";
import type { Policy, PolicyRefusal } from "../policy.ts";
import { matchesGlob } from "../../../base/text/name-glob.ts";
import { matching, sourceContains } from "./rules.ts";
import { signerDenial } from "./signer-demands.ts";
import type { JsonNode } from "../../../base/json/json-text.ts";

/** Merges the policies that count together, ordered by origin. Of two rules the stricter one counts; a project can only tighten. */
export function mergePolicies(layers: readonly PolicyLayer[], home: string): Policy {
  const effective = effectiveSettings(layers);
  const setting = <Name extends SettingName>(name: Name): PolicySettings[Name] => effective[name].value;
  const scripts = effective.scripts.value ? undefined : effective.scripts.layer;
  const refusalBy = (denials: (layer: PolicyLayer) => Iterable<Denial>): PolicyRefusal | undefined => {
    for (const layer of layers) for (const denial of denials(layer)) return toRefusal(denial);
    return undefined;
  };
  return {
    runs: setting("runs"),
    reads: setting("reads"),
    approvals: setting("approvals"),
    prompts: setting("prompts"),
    answers: setting("answers"),
    worktrees: setting("worktrees"),
    minimumAge: setting("minimumAge"),
    code:
      scripts &&
      toRefusal({ layer: scripts, verdict: "denies running code", rule: "scripts is false", path: ["scripts"] }),
    denies: (skill, wants) => refusalBy((layer) => denialsOf(layer, { skill, wants, home })),
    hides: layers.some(hidesAny)
      ? (skill, license) =>
          refusalBy(function* (layer) {
            yield* skillDenialsOf(layer, skill, home);
            if (license !== undefined) yield* licenseDenials(layer, license);
          })
      : undefined,
    deniesSource: (url) => refusalBy((layer) => urlDenials(layer, url)),
    deniesSigner: layers.some(({ policy }) => policy?.signers !== undefined)
      ? async (skill, signature) => {
          const denial = await signerDenial(layers, skill, signature, home);
          return denial && toRefusal(denial);
        }
      : undefined,
    deniesLicense: (license) => refusalBy((layer) => licenseDenials(layer, license)),
    grants(skill) {
      const given = grantsIn(layers).filter(({ grant }) => isFor(grant, skill, home));
      if (given[0] === undefined) return undefined;
      const { layer, index } = given[0];
      const capabilities = together(given.map(({ grant }) => grant.capabilities));
      return { capabilities, file: layer.file, rule: `grants[${index}]` };
    },
  };
}

function hidesAny({ policy, origin }: PolicyLayer): boolean {
  if (policy === undefined) return origin === "project";
  return policy.skills !== undefined || policy.sources !== undefined || policy.licenses !== undefined;
}

/** The value of each setting, and the file that decides it. Without a file, it is the default. */
export function effectiveSettings(layers: readonly PolicyLayer[]): {
  readonly [Name in SettingName]: { readonly value: PolicySettings[Name]; readonly layer: PolicyLayer | undefined };
} {
  const names = Object.keys(settings) as SettingName[];
  // Each value has the type of its setting.
  return Object.fromEntries(names.map((name) => [name, resolve(name, layers)])) as ReturnType<typeof effectiveSettings>;
}

interface EffectiveSetting {
  readonly value: PolicySettings[SettingName];
  readonly layer: PolicyLayer | undefined;
}

/** The strictest value that is stated. If only projects state one, the default counts as well. */
function resolve(name: SettingName, layers: readonly PolicyLayer[]): EffectiveSetting {
  const stated = (isProject: boolean): readonly EffectiveSetting[] =>
    layers.flatMap((layer) => {
      // A file that cannot be used may have these settings.
      const own: Partial<PolicySettings> = layer.policy ?? { approvals: "none", answers: false };
      const value = own[name];
      return value === undefined || (layer.origin === "project") !== isProject ? [] : [{ value, layer }];
    });
  const strictest = (all: readonly EffectiveSetting[], first: EffectiveSetting): EffectiveSetting =>
    all.reduce((best, other) => (strictness(name, other.value) > strictness(name, best.value) ? other : best), first);
  const [first = { value: defaultOf(name), layer: undefined }, ...others] = stated(false);
  return strictest(stated(true), strictest(others, first));
}

/** The default of a setting: the most permissive value, except for `reads`. */
function defaultOf(name: SettingName): PolicySettings[SettingName] {
  return name === "reads" ? "ask" : settings[name].values[0];
}

/** The index of a value among those of its setting; a higher one is stricter. */
function strictness(name: SettingName, value: PolicySettings[SettingName]): number {
  return (settings[name].values as readonly unknown[]).indexOf(value);
}

/** Grants of the organisation, and of the configuration unless the organisation limits approvals. */
function grantsIn(layers: readonly PolicyLayer[]) {
  const organisation = layers.filter(({ origin }) => origin === "organisation");
  const isFree = effectiveSettings(organisation).approvals.value === "everywhere";
  return layers
    .filter(({ origin }) => origin === "organisation" || (origin === "configuration" && isFree))
    .flatMap((layer) => (layer.policy?.grants ?? []).map((grant, index) => ({ grant, layer, index })));
}

function isFor(grant: PolicyGrant, { name, digest, origin }: Parameters<Policy["grants"]>[0], home: string): boolean {
  if (grant.digest !== undefined) return grant.digest === digest && grant.skill === name;
  const { source, commit } = origin ?? {};
  return (
    source !== undefined &&
    commit?.id === grant.commit &&
    commit?.digest === digest &&
    sourceContains(grant.source ?? "", source, home) &&
    matchesGlob(grant.skill ?? "*", name)
  );
}

const authors: Readonly<Record<PolicyLayer["origin"], string>> = {
  organisation: "The policy of your organisation",
  configuration: "The policy in $ACP_SKILLS_POLICY",
  project: "The policy of this project",
};

function toRefusal({ layer, verdict, rule }: Denial): PolicyRefusal {
  const { origin, file, policy, problems } = layer;
  const fixing = origin === "organisation" ? "An administrator of this machine" : "The user";
  const [fault] = problems.filter(({ severity }) => severity === "error");
  if (policy === undefined && fault !== undefined) {
    const where = `${fault.file}:${fault.line}:${fault.column}`;
    return {
      why: `${authors[origin]} is invalid, so that it ${verdict}. ${where}: ${fault.message}.`,
      hint: `${fixing} can correct it: ${fault.fix}`,
    };
  }
  return { why: `${authors[origin]} (${file}) ${verdict}: ${rule}.`, hint: `${fixing} can change that file.` };
}

interface Context {
  readonly home: string;
  readonly report: ReportPolicyProblem;
  readonly nodeAt: (path: readonly (string | number)[]) => JsonNode;
}

/** Reports what a policy both allows and denies. Such a policy is not used, because the intended rule cannot be known. */
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
  const ban = banOf(policy);
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

/** Why a grant never counts: the rest of the policy denies it. */
function whyIdle(layer: PolicyLayer, grant: PolicyGrant, home: string): string | undefined {
  if (layer.policy?.scripts === false) return '"scripts" is false';
  const { skill: name = "", source = "", capabilities: wants } = grant;
  const skill = { name, slug: name, version: "", isOwn: false, source: "", directory: "", origin: { source } };
  const denials = [...denialsOf(layer, { skill, wants, home })].filter(
    // A grant states neither the license of the skill nor its directory.
    ({ path: [part] }) => part !== "sources" && part !== "licenses" && (part !== "skills" || grant.skill !== undefined),
  );
  const [first] = [...denials.filter(({ setting }) => setting === undefined), ...denials];
  return first && `the policy ${first.verdict}`;
}

/** The rules of a file that would allow more than the files before it; they have no effect. */
export function looseningsOf(
  layer: PolicyLayer,
  before: readonly PolicyLayer[],
  home: string,
): readonly PolicyProblem[] {
  const { policy, origin } = layer;
  if (policy === undefined) return [];
  const above = before.filter((other) => other.origin !== origin);
  const effective = effectiveSettings(above);
  const problem = (path: readonly (string | number)[], message: string): PolicyProblem => ({
    code: "policy-loosens",
    severity: "warning",
    ...layer.positionOf(path),
    message: `${message}; it has no effect`,
    fix: "Remove it.",
  });
  const isLimited = origin === "project" || effective.approvals.value !== "everywhere";
  return [
    ...(isLimited && policy.grants !== undefined
      ? [problem(["grants"], `${origin === "project" ? "a project" : "this file"} cannot grant anything`)]
      : []),
    ...(Object.keys(settings) as SettingName[]).flatMap((name) => {
      const value = policy[name];
      const { value: min, layer: decisive } = effective[name];
      if (value === undefined || strictness(name, value) >= strictness(name, min)) return [];
      // No earlier file decides: only a project must not be looser than the default.
      if (decisive === undefined && origin !== "project") return [];
      const where = decisive === undefined ? ", the default" : ` in ${decisive.file}`;
      const message = `"${name}" is ${JSON.stringify(value)}, which is less strict than ${JSON.stringify(min)}${where}`;
      return [problem([name], message)];
    }),
    ...(Object.keys(lists) as ListName[]).flatMap((list) =>
      (policy[list]?.allow ?? []).flatMap((entry, index) => {
        const denied = above.find((other) => isDeniedBy(other, list, entry, home));
        if (denied === undefined) return [];
        return [problem([list, "allow", index], `${list}.allow has "${entry}", which ${denied.file} denies`)];
      }),
    ),
  ];
}

/** Whether a policy denies everything that an entry stands for. */
function isDeniedBy({ policy }: PolicyLayer, list: ListName, entry: string, home: string): boolean {
  const { allow, deny = [] } = policy?.[list] ?? {};
  if (deny.some((other) => matching[list].contains(other, entry, home))) return true;
  return (
    allow !== undefined && !entry.includes("*") && !allow.some((other) => matching[list].contains(other, entry, home))
  );
}
