import { type Capabilities, fromUse, isNothing } from "../../../skills/permissions.ts";
import { type UnhashedSkill, kindOf } from "../grants.ts";
import type { NamedSkill } from "../policy.ts";
import type { CheckedPolicy } from "./check-policy.ts";
import type { ListName, PolicyFile, PolicyProblem, SettingName } from "./policy-file.ts";
import { allowsSource, deniesSource, deniesUrl, isUrlRule, judgeLicense, matching } from "./rules.ts";

/** A policy file among those that count together. */
export interface PolicyLayer extends Pick<CheckedPolicy, "positionOf"> {
  /** The author: the organisation, the user who configured acp-skills, or the project, which may only tighten. */
  readonly origin: "organisation" | "configuration" | "project";
  readonly file: string;
  /** Undefined if the file cannot be used: nothing beyond the sandbox is allowed then. */
  readonly policy: PolicyFile | undefined;
  readonly problems: readonly PolicyProblem[];
}

/** A denial of a policy layer, and the rule behind it. */
export interface Denial {
  readonly layer: PolicyLayer;
  /** `denies the host example.com`. */
  readonly verdict: string;
  /** `hosts.deny has "*.com"`. */
  readonly rule: string;
  /** The path of the rule in the file. */
  readonly path: readonly (string | number)[];
  /** The setting that is denied, if it is not that of the rule. */
  readonly setting?: SettingName;
}

/** The denials of a skill by its name or its source. */
export function* skillDenialsOf(layer: PolicyLayer, skill: NamedSkill, home: string): Generator<Denial, void> {
  const { policy, origin } = layer;
  const what = `the skill ${skill.name}`;
  if (policy === undefined) {
    if (origin === "project" && kindOf(skill) === "project") yield { ...unusable(layer), verdict: `denies ${what}` };
    return;
  }
  yield* judged(layer, { list: "skills", what, ...namesOf(skill) });
  yield* judged(layer, {
    list: "sources",
    what: `${what}, which comes from ${skill.origin?.source ?? skill.source}`,
    allows: (entry) => allowsSource(entry, skill, home),
    denies: (entry) => deniesSource(entry, skill, home),
  });
}

/** The denials of a layer for all that a skill wants: first those of the skill itself. */
export function* denialsOf(
  layer: PolicyLayer,
  { skill, wants, home }: { readonly skill: UnhashedSkill; readonly wants: Capabilities; readonly home: string },
): Generator<Denial, void> {
  const { policy } = layer;
  yield* skillDenialsOf(layer, skill, home);
  if (policy === undefined) {
    if (!isNothing(wants)) yield { ...unusable(layer), verdict: "denies anything beyond the sandbox" };
    return;
  }
  if (policy.licenses !== undefined) yield* licenseDenials(layer, skill.license?.());
  if (wants.isolation !== undefined) yield* bareDenials(layer, policy);
  if (policy.project === "none" ? wants.project !== "none" : policy.project === "read" && wants.project === "write") {
    const verdict = `denies ${wants.project} access to the project`;
    yield { layer, verdict, rule: `project is "${policy.project}"`, path: ["project"] };
  }
  const isListed = (list: ListName, name: string): Tests => ({
    allows: (entry) => matching[list].contains(entry, name, home),
    denies: (entry) => matching[list].overlaps(entry, name),
  });
  for (const host of wants.network)
    yield* judged(layer, { list: "hosts", what: `the host ${host}`, ...isListed("hosts", host) });
  for (const name of wants.secrets)
    yield* judged(layer, { list: "secrets", what: `reading the secret ${name}`, ...isListed("secrets", name) });
  for (const use of wants.uses ?? []) {
    const { name, host } = fromUse(use);
    const what = `sending the secret ${name} to ${host}`;
    yield* judged(layer, { list: "secrets", what, ...isListed("secrets", use) });
    yield* judged(layer, {
      list: "hosts",
      what,
      ...isListed("hosts", host.includes("://") ? host : `https://${host}`),
    });
  }
}

/** The denials of running without a sandbox, where nothing prevents access to denied hosts, secrets and files. */
function* bareDenials(layer: PolicyLayer, policy: PolicyFile): Generator<Denial, void> {
  const verdict = "denies running without a sandbox";
  const ban = banOf(policy);
  if (policy.isolation === "sandbox") yield { layer, verdict, rule: 'isolation is "sandbox"', path: ["isolation"] };
  else if (ban !== undefined)
    yield {
      layer,
      verdict,
      rule: `${ban} has rules, which only a sandbox enforces`,
      path: [ban],
      setting: "isolation",
    };
}

/** The list or setting that only a sandbox enforces; undefined if there is none, or if the policy sets `isolation`. */
export function banOf(policy: PolicyFile): "hosts" | "secrets" | "project" | undefined {
  const { isolation, hosts, secrets, project = "write" } = policy;
  if (isolation !== undefined) return undefined;
  const denies = ({ allow, deny = [] }: NonNullable<PolicyFile["hosts"]> = {}): boolean =>
    allow?.includes("*") === false || deny.length > 0;
  if (denies(hosts)) return "hosts";
  if (denies(secrets)) return "secrets";
  return project === "write" ? undefined : "project";
}

/** The denials of a source URL, before there is a skill. An "allow" that names only directories says nothing about URLs. */
export function urlDenials(layer: PolicyLayer, url: string): Generator<Denial, void> {
  const { allow = [] } = layer.policy?.sources ?? {};
  const areUrls = allow.length === 0 || allow.some(isUrlRule);
  const skill = { source: "", directory: "", isOwn: false, origin: { source: url } };
  return judged(layer, {
    list: "sources",
    what: `the source ${url}`,
    allows: (entry) => !areUrls || allowsSource(entry, skill, ""),
    denies: (entry) => isUrlRule(entry) && deniesUrl(entry, url),
  });
}

function unusable(layer: PolicyLayer): Omit<Denial, "verdict"> {
  return { layer, rule: "the file cannot be used", path: [] };
}

/** The denials of a license: an SPDX expression, or undefined for a skill without a license. */
export function* licenseDenials(layer: PolicyLayer, license = "unspecified"): Generator<Denial, void> {
  const { allow: allowed, deny: denied } = layer.policy?.licenses ?? {};
  const verdict = judgeLicense(license, { allowed, denied });
  if (verdict === undefined) return;
  const part = judgeLicense(license, { denied }) === undefined ? "allow" : "deny";
  yield { layer, verdict, rule: `see licenses.${part}`, path: ["licenses", part] };
}

interface Tests {
  readonly allows: (entry: string) => boolean;
  readonly denies: (entry: string) => boolean;
}

/** A slug that distinguishes skills of one name may be denied, but not allowed: anyone can name a directory. */
function namesOf({ name, slug }: NamedSkill): Tests {
  const names = [name, name.replaceAll(".", "-")];
  return {
    allows: (entry) => names.some((one) => matching.skills.contains(entry, one, "")),
    denies: (entry) => [...names, slug].some((one) => matching.skills.overlaps(entry, one)),
  };
}

/** The denial by a list, if there is one: by an entry of "deny", or because "allow" does not name it. */
function* judged(
  layer: PolicyLayer,
  { list, what, allows, denies }: Tests & { readonly list: ListName; readonly what: string },
): Generator<Denial, void> {
  const verdict = `denies ${what}`;
  const { allow, deny = [] } = layer.policy?.[list] ?? {};
  const index = deny.findIndex(denies);
  if (index >= 0)
    yield { layer, verdict, rule: `${list}.deny has "${deny[index] ?? ""}"`, path: [list, "deny", index] };
  else if (allow?.some(allows) === false) yield { layer, verdict, rule: `not in ${list}.allow`, path: [list, "allow"] };
}
