import { inParallel } from "../../../base/promises.ts";
import type { Marketplace, PluginEntry } from "./marketplace.ts";
import { type PluginTree, type PluginsRead, quotedName, readOwnPlugins } from "./plugin-tree.ts";
import { type PluginReading, placeKey, readAtOnce, readElsewhere } from "./plugins-elsewhere.ts";
import type { TreeSkill } from "../trees/describe-skills.ts";

/** Of plugins elsewhere: more would make one look at a marketplace a download of hundreds of repositories. */
const mostElsewhere = 40;

/**
 * Finds the skills of a marketplace's plugins, without running anything of them. A plugin that cannot be read is a problem, and does not
 * stop the others. A directory that several entries name is one skill.
 */
export async function readPlugins(
  { plugins, problems }: Marketplace,
  own: PluginTree | undefined,
  from: string,
  reading: PluginReading,
): Promise<PluginsRead> {
  const all: string[] = [...problems];
  for (const { name, place } of plugins)
    if (place.type === "unusable") all.push(`The plugin ${quotedName(name)} cannot be used: ${place.why}.`);
  const local = own === undefined ? { found: [], problems: [] } : await readOwnPlugins(plugins, own, reading.signal);
  const elsewhere = plugins.filter(({ place }) => place.type === "git" || place.type === "archive");
  const places = new Map<string, PluginEntry[]>();
  for (const entry of elsewhere) {
    const key = placeKey(entry.place);
    const known = places.get(key);
    if (known === undefined) places.set(key, [entry]);
    else known.push(entry);
  }
  const groups = [...places.values()];
  const read = await inParallel(groups.slice(0, mostElsewhere), readAtOnce, (entries) =>
    readElsewhere(entries, from, reading),
  );
  if (groups.length > mostElsewhere) {
    const left = groups.slice(mostElsewhere).flat().length;
    all.push(
      `${left} plugins are left out: at most ${mostElsewhere} other repositories and archives are looked at. Add a repository itself to use its skills.`,
    );
  }
  return {
    found: unique([...local.found, ...read.flatMap(({ found }) => found)]),
    problems: [...all, ...local.problems, ...read.flatMap((each) => each.problems)],
    followed: Object.assign({}, ...read.map(({ followed }) => followed)) as Readonly<Record<string, string>>,
    ...(read.some(({ isPartial }) => isPartial) && { isPartial: true }),
  };
}

function unique(found: readonly TreeSkill[]): readonly TreeSkill[] {
  const seen = new Set<string>();
  return found.filter(({ content }) => {
    const key = JSON.stringify(content);
    return !seen.has(key) && seen.add(key).size > 0;
  });
}
