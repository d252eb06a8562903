import type { PolicyProblem } from "../policy-problem.ts";
import type { PolicyLayer } from "../layers.ts";
import { effectiveSettings, strictness } from "./merge-policies.ts";
import { type ListName, type SettingName, lists, settings } from "../policy-file.ts";
import { matching } from "../rules/matching.ts";

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
