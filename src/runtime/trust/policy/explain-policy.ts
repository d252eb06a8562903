import { type Capabilities, covers, fromUse, noCapabilities } from "../../../skills/permissions.ts";
import { type JudgedSkill, kindOf } from "../grants.ts";
import { type PolicyLayer, denialsOf } from "./layers.ts";
import { effectiveSettings, mergePolicies } from "./merge-policies.ts";
import type { ListName, SettingName } from "./policy-file.ts";

/** The verdict of the policies on one property or request of a skill, and the rule behind it. */
export interface PolicyDecision {
  /** `the host api.example.com`. */
  readonly about: string;
  readonly verdict: "allowed" | "granted" | "needs approval" | "denied";
  /** `hosts.deny has "*.example.com"`. */
  readonly why: string;
  /** The position of the rule; absent if no file has one. */
  readonly position?: { readonly file: string; readonly line: number; readonly column: number };
}

/** Explains the decisions of the policies about a skill. The user's approvals are not considered. */
export function explainPolicies(
  layers: readonly PolicyLayer[],
  explained: {
    readonly skill: JudgedSkill;
    readonly wants: Capabilities;
    /** Whether it has code that can run. */
    readonly hasCode: boolean;
    readonly home: string;
  },
): readonly PolicyDecision[] {
  const { skill, wants, hasCode, home } = explained;
  const { name, source, origin } = skill;
  const { network, secrets, uses = [], project, isolation } = wants;
  const effective = effectiveSettings(layers);
  const license = skill.license?.() ?? "unspecified";

  function bySetting(
    about: string,
    verdict: PolicyDecision["verdict"],
    setting: SettingName,
    why = `${setting} is ${JSON.stringify(effective[setting].value)}`,
  ): PolicyDecision {
    return { about, verdict, why, ...at(effective[setting].layer, [setting]) };
  }
  /** The denial by a list or a setting. */
  function deniedBy(part: ListName | SettingName, about: string, asked = noCapabilities): PolicyDecision | undefined {
    for (const layer of layers)
      for (const { path, rule, setting = path[0] } of denialsOf(layer, { skill, wants: asked, home }))
        if (setting === undefined || setting === part)
          return { about, verdict: "denied", why: rule, ...at(layer, path) };
    return undefined;
  }
  function listed(list: ListName, about: string): PolicyDecision {
    const allowing = layers.find(({ policy }) => policy?.[list]?.allow !== undefined);
    const why = allowing === undefined ? "no rule is against it" : `in ${list}.allow`;
    return deniedBy(list, about) ?? { about, verdict: "allowed", why, ...at(allowing, [list, "allow"]) };
  }
  /** The decision about an access that no rule denies: a policy grants it, or the user can. */
  function approval(about: string, asked = noCapabilities): PolicyDecision {
    const granted = mergePolicies(layers, home).grants(skill);
    if (granted !== undefined && covers(granted.capabilities, asked)) {
      const layer = layers.find(({ file }) => file === granted.file);
      return { about, verdict: "granted", why: "grants has this version", ...at(layer, ["grants"]) };
    }
    if (effective.approvals.value === "none") return bySetting(about, "denied", "approvals");
    return effective.prompts.value
      ? bySetting(about, "needs approval", "approvals")
      : bySetting(about, "needs approval", "prompts", "prompts is false: only by acp-skills approvals grant");
  }
  function running(about: string): PolicyDecision {
    if (effective.runs.value !== "ask" && origin === undefined) return bySetting(about, "allowed", "runs");
    const decision = approval(about);
    if (decision.verdict !== "needs approval" || !effective.prompts.value) return decision;
    return origin === undefined
      ? bySetting(about, "needs approval", "runs")
      : { about, verdict: "needs approval", why: "it is from a source on the network" };
  }
  function wanted(part: ListName | SettingName, about: string, some: Partial<Capabilities>): PolicyDecision {
    const asked = { ...noCapabilities, ...some };
    return deniedBy(part, about, asked) ?? approval(about, asked);
  }

  const isRead = effective.reads.value === "allow";
  return [
    listed("skills", `the name ${name}`),
    listed("sources", `the source ${origin?.source ?? source}`),
    listed("licenses", `the license ${license}`),
    ...(kindOf(skill) === "project"
      ? [bySetting("reading by models", isRead ? "allowed" : "needs approval", "reads")]
      : []),
    ...(hasCode
      ? [
          effective.scripts.value
            ? bySetting("running code", "allowed", "scripts", "no rule is against it")
            : bySetting("running code", "denied", "scripts"),
          running("running in the sandbox"),
        ]
      : []),
    ...(isolation === undefined ? [] : [wanted("isolation", "running without a sandbox", { isolation })]),
    ...(project === "none" ? [] : [wanted("project", `${project} access to the project`, { project })]),
    ...secrets.map((secret) => wanted("secrets", `reading the secret ${secret}`, { secrets: [secret] })),
    ...uses.map((use) => {
      const { name, host } = fromUse(use);
      const about = `sending the secret ${name} to ${host}`;
      return deniedBy("hosts", about, { ...noCapabilities, uses: [use] }) ?? wanted("secrets", about, { uses: [use] });
    }),
    ...network.map((host) => wanted("hosts", `the host ${host}`, { network: [host] })),
  ];
}

function at(layer: PolicyLayer | undefined, path: readonly (string | number)[]): Pick<PolicyDecision, "position"> {
  if (layer === undefined) return {};
  const { file, line, column } = layer.positionOf(path);
  return { position: { file, line, column } };
}
