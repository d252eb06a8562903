import type { Capabilities } from "../capabilities.ts";
import { isNothing } from "../capabilities.ts";
import type { Subject } from "../grant.ts";
import type { CheckedPolicy } from "./check-policy.ts";
import type { PolicyProblem } from "./policy-problem.ts";
import type { ListName, PolicyFile } from "./policy-file.ts";
import { judgeLicense } from "./judge-license.ts";
import { matching } from "./rules/matching.ts";
import { allowsSource, deniesSource } from "./rules/source-rule.ts";

/** One policy file of those that count together. */
export interface PolicyLayer extends Pick<CheckedPolicy, "placeOf"> {
  /** Who wrote it: the organisation, the person who configured acp-skills, or the project, which may only tighten. */
  readonly origin: "organisation" | "configuration" | "project";
  readonly file: string;
  /** Undefined if the file cannot be used: then nothing beyond the sandbox is allowed. */
  readonly policy: PolicyFile | undefined;
  readonly problems: readonly PolicyProblem[];
}

/** What a layer denies, and by which rule. */
export interface Denial {
  readonly layer: PolicyLayer;
  /** `denies the host example.com`. */
  readonly verdict: string;
  /** `hosts.deny has "*.com"`. */
  readonly rule: string;
  /** Where the rule stands in the file. */
  readonly path: readonly (string | number)[];
}

export type PolicySubject = Omit<Subject, "digest">;

/** Everything that a layer denies of what a skill wants: first the skill itself. */
export function* denialsOf(
  layer: PolicyLayer,
  { subject, wants, home }: { readonly subject: PolicySubject; readonly wants: Capabilities; readonly home: string },
): Generator<Denial, void> {
  const { policy, origin } = layer;
  if (policy === undefined) {
    const broken = { layer, rule: "the file cannot be used", path: [] };
    if (origin === "project" && !subject.isOwn) yield { ...broken, verdict: `denies the skill ${subject.name}` };
    if (!isNothing(wants)) yield { ...broken, verdict: "denies anything beyond the sandbox" };
    return;
  }
  const judge = (list: ListName, what: string, tests: Tests): Denial | undefined => {
    const found = ruleAgainst(policy, list, tests);
    return found && { layer, verdict: `denies ${what}`, ...found };
  };
  const isListed = (list: ListName, ...names: readonly string[]): Tests => ({
    allows: (entry) => names.some((name) => matching[list].contains(entry, name, home)),
    denies: (entry) => names.some((name) => matching[list].overlaps(entry, name)),
  });
  yield* some(judge("skills", `the skill ${subject.name}`, namesOf(subject)));
  yield* some(
    judge("sources", `the skill ${subject.name}, which comes from ${subject.origin?.source ?? subject.source}`, {
      allows: (entry) => allowsSource(entry, subject, home),
      denies: (entry) => deniesSource(entry, subject, home),
    }),
  );
  if (policy.licenses !== undefined) yield* some(licenseDenial(layer, subject.license?.()));
  if (wants.isolation !== undefined && policy.isolation === "sandbox")
    yield { layer, verdict: "denies running without a sandbox", rule: 'isolation is "sandbox"', path: ["isolation"] };
  if (policy.project === "none" ? wants.project !== "none" : policy.project === "read" && wants.project === "write") {
    const verdict = `denies ${wants.project} access to the project`;
    yield { layer, verdict, rule: `project is "${policy.project}"`, path: ["project"] };
  }
  for (const host of wants.network) yield* some(judge("hosts", `the host ${host}`, isListed("hosts", host)));
  for (const name of wants.secrets) yield* some(judge("secrets", `the secret ${name}`, isListed("secrets", name)));
  for (const tool of wants.tools) yield* some(judge("tools", `the tool ${tool}`, isListed("tools", tool)));
}

/** Takes an SPDX expression; undefined for a skill without a license. */
export function licenseDenial(layer: PolicyLayer, license = "unspecified"): Denial | undefined {
  const { allow: allowed, deny: denied } = layer.policy?.licenses ?? {};
  const why = judgeLicense(license, { allowed, denied });
  const isDenied = why !== undefined && judgeLicense(license, { denied }) !== undefined;
  const part = isDenied ? "deny" : "allow";
  return why === undefined
    ? undefined
    : { layer, verdict: why, rule: `see licenses.${part}`, path: ["licenses", part] };
}

interface Tests {
  readonly allows: (entry: string) => boolean;
  readonly denies: (entry: string) => boolean;
}

/** A slug that tells skills of one name apart may be denied, but not allowed: anyone can name a directory. */
function namesOf({ name, slug }: PolicySubject): Tests {
  const names = [name, name.replaceAll(".", "-")];
  return {
    allows: (entry) => names.some((one) => matching.skills.contains(entry, one, "")),
    denies: (entry) => [...names, slug].some((one) => matching.skills.overlaps(entry, one)),
  };
}

/** The rule of a list that denies something: an entry of "deny", or that "allow" does not name it. */
function ruleAgainst(
  policy: PolicyFile,
  list: ListName,
  { allows, denies }: Tests,
): Pick<Denial, "rule" | "path"> | undefined {
  const { allow, deny = [] } = policy[list] ?? {};
  const place = deny.findIndex(denies);
  if (place >= 0) return { rule: `${list}.deny has "${deny[place] ?? ""}"`, path: [list, "deny", place] };
  if (allow === undefined || allow.some(allows)) return undefined;
  return { rule: `not in ${list}.allow`, path: [list, "allow"] };
}

function some<Value>(value: Value | undefined): readonly Value[] {
  return value === undefined ? [] : [value];
}
