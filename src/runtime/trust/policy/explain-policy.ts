import { type Capabilities, covers, noCapabilities } from "../../../skills/permissions.ts";
import { type Subject, kindOf } from "../grants.ts";
import { type PolicyLayer, denialsOf } from "./layers.ts";
import { effectiveSettings, mergePolicies } from "./merge-policies.ts";
import type { ListName, SettingName } from "./policy-file.ts";

/** What the policies say about one thing that a skill is or wants, and which rule says it. */
export interface PolicyDecision {
  /** `the host api.example.com`. */
  readonly about: string;
  readonly verdict: "allowed" | "granted" | "needs approval" | "denied";
  /** `hosts.deny has "*.example.com"`. */
  readonly why: string;
  /** The place of the rule; absent where no file says anything. */
  readonly place?: { readonly file: string; readonly line: number; readonly column: number };
}

interface Explained {
  readonly subject: Subject;
  readonly wants: Capabilities;
  /** Whether it has code that can run. */
  readonly hasCode: boolean;
  readonly home: string;
}

/** What the policies decide about a skill. Approvals of people are not looked at. */
export function explainPolicies(layers: readonly PolicyLayer[], explained: Explained): readonly PolicyDecision[] {
  const { subject, hasCode } = explained;
  const { name, source, origin } = subject;
  const license = subject.license?.() ?? "unspecified";
  return [
    decideRule(layers, explained, { about: `the name ${name}`, list: "skills" }),
    decideRule(layers, explained, { about: `the source ${origin?.source ?? source}`, list: "sources" }),
    decideRule(layers, explained, { about: `the license ${license}`, list: "licenses" }),
    ...(kindOf(subject) === "project" ? [decideReading(layers)] : []),
    ...(hasCode ? [decideCode(layers), decideRun(layers, explained)] : []),
    ...capabilitiesIn(explained.wants).map((capability) => decideCapability(layers, explained, capability)),
  ];
}

interface Ruled {
  readonly about: string;
  readonly list?: ListName;
  readonly setting?: SettingName;
  readonly wants?: Capabilities;
}

/** Whether a rule denies something, or names it in its "allow". */
function decideRule(
  layers: readonly PolicyLayer[],
  { subject, home }: Explained,
  { about, list, setting, wants = noCapabilities }: Ruled,
): PolicyDecision {
  for (const layer of layers) {
    for (const { path, rule, setting: meant } of denialsOf(layer, { subject, wants, home })) {
      const part = meant ?? path[0];
      if (part !== undefined && part !== list && part !== setting) continue;
      return { about, verdict: "denied", why: rule, ...at(layer, path) };
    }
  }
  const allowing = list && layers.find(({ policy }) => policy?.[list]?.allow !== undefined);
  return allowing === undefined
    ? { about, verdict: "allowed", why: "no rule is against it" }
    : { about, verdict: "allowed", why: `in ${list ?? ""}.allow`, ...at(allowing, [list ?? "", "allow"]) };
}

function decideReading(layers: readonly PolicyLayer[]): PolicyDecision {
  const { value, layer } = effectiveSettings(layers).reads;
  const about = "reading by models";
  const verdict = value === "allow" ? "allowed" : "needs approval";
  return { about, verdict, why: `reads is "${value}"`, ...at(layer, ["reads"]) };
}

function decideCode(layers: readonly PolicyLayer[]): PolicyDecision {
  const { value, layer } = effectiveSettings(layers).scripts;
  return {
    about: "running code",
    verdict: value ? "allowed" : "denied",
    why: value ? "no rule is against it" : "scripts is false",
    ...at(layer, ["scripts"]),
  };
}

/** A run that needs nothing beyond its sandbox. */
function decideRun(layers: readonly PolicyLayer[], explained: Explained): PolicyDecision {
  const about = "running in the sandbox";
  const { value, layer } = effectiveSettings(layers).runs;
  const isRemote = explained.subject.origin !== undefined;
  if (value === "ask" || isRemote) {
    const decision = approvalOf(layers, explained, { about });
    const isUsual = decision.verdict === "needs approval" && effectiveSettings(layers).prompts.value;
    if (!isUsual) return decision;
    return isRemote
      ? { about, verdict: "needs approval", why: "it is from a source on the network" }
      : { about, verdict: "needs approval", why: 'runs is "ask"', ...at(layer, ["runs"]) };
  }
  return { about, verdict: "allowed", why: 'runs is "sandbox"', ...at(layer, ["runs"]) };
}

interface Capability {
  readonly about: string;
  readonly list?: ListName;
  readonly setting?: SettingName;
  readonly wants: Capabilities;
}

function capabilitiesIn({ network, secrets, project, isolation }: Capabilities): readonly Capability[] {
  const only = (wants: Partial<Capabilities>): Capabilities => ({ ...noCapabilities, ...wants });
  return [
    ...(isolation === undefined
      ? []
      : [{ about: "running without a sandbox", setting: "isolation", wants: only({ isolation }) } as const]),
    ...(project === "none"
      ? []
      : [{ about: `${project} access to the project`, setting: "project", wants: only({ project }) } as const]),
    ...secrets.map(
      (name) => ({ about: `the secret ${name}`, list: "secrets", wants: only({ secrets: [name] }) }) as const,
    ),
    ...network.map((host) => ({ about: `the host ${host}`, list: "hosts", wants: only({ network: [host] }) }) as const),
  ];
}

function decideCapability(
  layers: readonly PolicyLayer[],
  explained: Explained,
  capability: Capability,
): PolicyDecision {
  const ruled = decideRule(layers, explained, capability);
  return ruled.verdict === "denied" ? ruled : approvalOf(layers, explained, capability);
}

/** Whether a policy grants it, or a person can. */
function approvalOf(
  layers: readonly PolicyLayer[],
  { subject, home }: Explained,
  { about, wants = noCapabilities }: Ruled,
): PolicyDecision {
  const { grants } = mergePolicies(layers, home);
  const granted = grants(subject);
  if (granted !== undefined && covers(granted.capabilities, wants)) {
    const layer = layers.find(({ file }) => file === granted.file);
    return { about, verdict: "granted", why: "grants has this version", ...at(layer, ["grants"]) };
  }
  const { approvals, prompts } = effectiveSettings(layers);
  if (approvals.value === "none")
    return { about, verdict: "denied", why: 'approvals is "none"', ...at(approvals.layer, ["approvals"]) };
  if (!prompts.value) {
    const why = "prompts is false: only by acp-skills approvals grant";
    return { about, verdict: "needs approval", why, ...at(prompts.layer, ["prompts"]) };
  }
  const why = `approvals is "${approvals.value}"`;
  return { about, verdict: "needs approval", why, ...at(approvals.layer, ["approvals"]) };
}

function at(layer: PolicyLayer | undefined, path: readonly (string | number)[]): Pick<PolicyDecision, "place"> {
  if (layer === undefined) return {};
  const { file, line, column } = layer.placeOf(path);
  return { place: { file, line, column } };
}
