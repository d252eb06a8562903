import { createHash } from "node:crypto";
import { SkillsError, type SkillsErrorCode, isSkillsError } from "../../../base/errors.ts";
import { groupBy } from "../../../base/limited-map.ts";
import { inParallel } from "../../../base/promises.ts";
import { readArchive } from "../../archive/read-archive.ts";
import type { AddressRules } from "../../fetch/address-rules.ts";
import type { Target } from "../../../base/network/address.ts";
import type { Fetcher } from "../../fetch.ts";
import { type FileTree, archiveTree } from "../trees/file-tree.ts";
import type { Marketplace, PluginEntry, PluginLocation } from "./marketplace.ts";
import { type PluginTree, type PluginsRead, quotedName, readOwnPlugins, readPluginTree } from "./plugin-tree.ts";
import { skillLimits } from "../../source.ts";
import type { RemoteContent } from "../../reader.ts";
import type { TreeSkill } from "../trees/describe-skills.ts";

/** A reader of git repositories. */
interface RepositoryReader {
  /** Returns the commit that a branch, a tag or HEAD names now. */
  resolve(repository: string, ref: string | undefined, signal: AbortSignal): Promise<string>;
  use<Value>(
    repository: string,
    commit: string,
    signal: AbortSignal,
    work: (read: { readonly tree: FileTree; readonly problems: readonly string[] }) => Promise<Value>,
  ): Promise<Value>;
}

/** The means to read plugins from other repositories and archives. */
export interface PluginReading {
  readonly repositories: RepositoryReader;
  readonly fetcher: Fetcher;
  readonly rules: AddressRules;
  readonly signal: AbortSignal;
}

/** The number of other repositories and archives that are read at a time. */
const readAtOnce = 4;
const archiveMs = 60_000;
/** The codes of errors that may not recur later. */
const passing: ReadonlySet<SkillsErrorCode> = new Set([
  "ENDPOINT_UNREACHABLE",
  "EXECUTION_TIMEOUT",
  "RATE_LIMITED",
  "RUNTIME_BUSY",
]);

/** Whether every ref that entries follow still names the same commit. */
export async function areUnmoved(
  followed: Readonly<Record<string, string>>,
  { repositories, signal }: Pick<PluginReading, "repositories" | "signal">,
): Promise<boolean> {
  const moved = await inParallel(Object.entries(followed), readAtOnce, async ([key, commit]) => {
    const at = key.lastIndexOf("#");
    const now = repositories.resolve(key.slice(0, at), key.slice(at + 1), signal);
    // The next read reports the error.
    return (await now.catch(() => undefined)) !== commit;
  });
  return !moved.includes(true);
}

/** Reads plugins from the one repository or archive that these entries name. A failure becomes a problem. */
async function readElsewhere(
  entries: readonly PluginEntry[],
  from: string,
  reading: PluginReading,
): Promise<PluginsRead> {
  const at = entries[0]?.location;
  try {
    if (at?.type === "git") return await readRepository(at, entries, from, reading);
    return at?.type === "archive" ? await readPackage(at, entries, from, reading) : { found: [], problems: [] };
  } catch (error) {
    if (reading.signal.aborted || !isSkillsError(error)) throw error;
    const names = entries.map(({ name }) => quotedName(name)).join(", ");
    const problems = [`The plugin ${names} cannot be read: ${error.message}`];
    return { found: [], problems, ...(passing.has(error.code) && { isPartial: true }) };
  }
}

async function readRepository(
  location: PluginLocation & { readonly type: "git" },
  entries: readonly PluginEntry[],
  from: string,
  { repositories, rules, signal }: PluginReading,
): Promise<PluginsRead> {
  const { repository } = location;
  checkMayLead(rules, from, repository);
  const commit = location.commit ?? (await repositories.resolve(repository, location.ref, signal));
  return await repositories.use(repository, commit, signal, async ({ tree, problems }) => {
    const toContent = (directory: string): RemoteContent => ({ type: "git", repository, commit, directory });
    const plugins = entries.map((entry) => ({ entry, root: pathOf(entry), isShared: false, isFetched: true }) as const);
    const read = await readPluginTree({ tree, toContent }, plugins, signal);
    const followed = location.commit === undefined ? { [`${repository}#${location.ref ?? "HEAD"}`]: commit } : {};
    return { found: read.found, problems: [...problems, ...read.problems], followed };
  });
}

function pathOf({ location }: PluginEntry): string {
  return location.type === "git" ? location.path : "";
}

async function readPackage(
  { url, digest }: PluginLocation & { readonly type: "archive" },
  entries: readonly PluginEntry[],
  from: string,
  { fetcher, rules, signal }: PluginReading,
): Promise<PluginsRead> {
  checkMayLead(rules, from, url);
  const asSent = digest !== undefined;
  const answer = await fetcher.fetch({ url, maxBytes: skillLimits.packedBytes, timeoutMs: archiveMs, asSent }, signal);
  if (answer.status !== 200) throw invalid(`the host of its archive answered ${answer.status}`);
  const got = `sha256:${createHash("sha256").update(answer.body).digest("hex")}`;
  if (digest !== undefined && digest !== got) throw invalid(`its archive has the digest ${got} instead of ${digest}`);
  const archive = await readArchive(answer.body, {}, signal);
  const { files } = archive;
  const tree = archiveTree(archive);
  const tops = new Set(files.map(({ path }) => path.split("/", 1)[0] ?? ""));
  const [top = ""] = tops;
  // The archive may have a single directory around everything.
  const root = tops.size === 1 && files.every(({ path }) => path.includes("/")) && top !== "skills" ? top : "";
  const toContent = (directory: string): RemoteContent => {
    return { type: "archive", url, digest: got, ...(directory !== "" && { directory }) };
  };
  const plugins = entries.map((entry) => ({ entry, root, isShared: false, isFetched: true }) as const);
  return await readPluginTree({ tree, toContent }, plugins, signal);
}

/** Throws SOURCE_INVALID for http after https, and for a private host unless the marketplace is on one that the user allowed. */
function checkMayLead(rules: AddressRules, from: string, to: string): void {
  const [source, target] = [new URL(from), new URL(to)];
  if (target.protocol === "http:" && source.protocol !== "http:") throw invalid("its URL is not https");
  let asked: Target;
  try {
    asked = rules.targetOf(target);
  } catch (error) {
    throw isSkillsError(error) ? invalid(error.message.replace(/\.$/, "")) : error;
  }
  if (!rules.isAllowed(asked)) return;
  const isSame = source.host === target.host;
  const mayLead = source.protocol.startsWith("http") && rules.isAllowed(rules.targetOf(source));
  if (!isSame && !mayLead) throw invalid("it is on a private host, to which a public marketplace must not lead");
}

function invalid(why: string): SkillsError {
  return new SkillsError("SOURCE_INVALID", `${why}.`);
}

/** The maximum number of other repositories and archives: more would make one marketplace a download of hundreds. */
const maxElsewhere = 40;

/**
 * Finds the skills of a marketplace's plugins, without running anything of them. A plugin that cannot be read becomes a problem, and does
 * not stop the others. A directory that several entries name is one skill.
 */
export async function readPlugins(
  { plugins, problems }: Marketplace,
  own: PluginTree | undefined,
  from: string,
  reading: PluginReading,
): Promise<PluginsRead> {
  const all: string[] = [...problems];
  for (const { name, location } of plugins)
    if (location.type === "unusable") all.push(`The plugin ${quotedName(name)} cannot be used: ${location.why}.`);
  const local = own === undefined ? { found: [], problems: [] } : await readOwnPlugins(plugins, own, reading.signal);
  const elsewhere = plugins.filter(({ location }) => location.type === "git" || location.type === "archive");
  // Plugins in directories of one repository are one group, so that the repository is fetched once.
  const locationOf = ({ location }: PluginEntry): PluginLocation =>
    location.type === "git" ? { ...location, path: "" } : location;
  const groups = [...groupBy(elsewhere, (entry) => JSON.stringify(locationOf(entry))).values()];
  const read = await inParallel(groups.slice(0, maxElsewhere), readAtOnce, (entries) =>
    readElsewhere(entries, from, reading),
  );
  if (groups.length > maxElsewhere) {
    const left = groups.slice(maxElsewhere).flat().length;
    all.push(
      `${left} plugins are left out: at most ${maxElsewhere} other repositories and archives are looked at. Add a repository itself to use its skills.`,
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
