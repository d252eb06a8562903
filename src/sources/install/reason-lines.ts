/** Why something was not done with a skill. */
export interface Reason {
  readonly name: string;
  readonly why: string;
}

const mostNamed = 5;

/** Each reason once with all of its skills: `a, b and 3 more: why`. */
export function reasonLines(reasons: readonly Reason[], between = ""): readonly string[] {
  const names = new Map<string, string[]>();
  for (const { name, why } of reasons) names.set(why, [...(names.get(why) ?? []), name]);
  return [...names].map(([why, all]) => {
    const more = all.length > mostNamed ? ` and ${all.length - mostNamed} more` : "";
    return `${all.slice(0, mostNamed).join(", ")}${more}${between}: ${why}`;
  });
}
