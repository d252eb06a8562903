import { statSync } from "node:fs";
import path from "node:path";
import { homePath, shownPath } from "../../../base/paths/location.ts";
import type { Steps } from "../../../base/promises.ts";
import type { Standing } from "../../../runtime/trust.ts";
import type { Summary } from "../../../skills/environment.ts";
import type { Problem, RuleCode } from "../../../skills/rules.ts";
import type { OfferedSkill, Snapshot } from "../../../skills/skill.ts";
import { unreadDirectory } from "../../../skills/skillset.ts";
import type { SkillRow } from "../../wire/skills.ts";
import type { DisplayRoots } from "../browse-context.ts";
import { type Rows, rowsAtOnce, type ShownSkill } from "./row-texts.ts";

/** Makes the rows of snapshots. The row of an unchanged skill is the same object as before. */
interface RowMaker {
  readonly make: (snapshot: Snapshot) => Steps<Rows>;
  /** Forgets the row of a skill whose files changed although its `OfferedSkill` is the same. */
  readonly forget: (offered: OfferedSkill) => void;
}

/** The facts about a skill that its frontmatter does not have. */
interface KnownOfSkill {
  /** Absent if the skill can be used, and as long as its standing is not known. */
  readonly standing: Exclude<Standing, "ready"> | undefined;
  /** Whether another version of the skill was approved. */
  readonly wasApproved: boolean;
  readonly environment: Summary | undefined;
}

export function createRowMaker(roots: DisplayRoots, knownOf: (offered: OfferedSkill) => KnownOfSkill): RowMaker {
  const made = new WeakMap<OfferedSkill, KnownOfSkill & { readonly shown: ShownSkill }>();
  let others: (Unoffered & { readonly of: Snapshot }) | undefined;

  function toShown(offered: OfferedSkill): ShownSkill {
    const known = knownOf(offered);
    const last = made.get(offered);
    const { standing, wasApproved, environment } = known;
    if (last?.standing === standing && last?.wasApproved === wasApproved && last.environment === environment)
      return last.shown;
    const shown = toShownSkill(offered, known, roots);
    made.set(offered, { ...known, shown });
    return shown;
  }

  return {
    *make(snapshot) {
      const found: ShownSkill[] = [];
      for (const offered of snapshot.skills) {
        found.push(toShown(offered));
        if (found.length % rowsAtOnce === 0) yield;
      }
      if (others?.of !== snapshot) others = { of: snapshot, ...(yield* findUnoffered(snapshot, roots)) };
      const { shown, unread } = others;
      if (shown.length > 0) {
        found.push(...shown);
        found.sort((a, b) => byText(a.row.name, b.row.name) || byText(a.row.id, b.row.id));
      }
      return { byId: new Map(found.map((one) => [one.row.id, one])), unread };
    },
    forget: (offered) => void made.delete(offered),
  };
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Models read about four characters as one token. */
function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4);
}

function toShownSkill(offered: OfferedSkill, known: KnownOfSkill, roots: DisplayRoots): ShownSkill {
  const { skill, problems, remote, sources } = offered;
  const { standing, wasApproved, environment } = known;
  const { slug, name, description, kind, version, namespace, license, compatibility, allowedTools, directory } = skill;
  const counts = countProblems(problems);
  const isChanged = standing === "needs-approval" && wasApproved;
  const folder = path.basename(directory);
  const row: SkillRow = {
    ...{ id: slug, name: slug, description, kind, version, namespace, license, compatibility, allowedTools },
    canonicalName: name === slug ? undefined : name,
    // A version may have a directory of its own below the one with the name.
    folder: folder === slug || folder === version ? undefined : folder,
    source: remote?.label ?? directoryName(sources[0] ?? directory, roots),
    state: isChanged ? "changed" : (standing ?? (counts.errors + counts.warnings > 0 ? "warnings" : "ok")),
    environment: environment && {
      status: environment.status,
      missing: environment.missing.length === 0 ? undefined : environment.missing,
    },
    tokens: {
      listed: estimateTokens(slug.length + description.length),
      // The size of the whole file, because only that is known without reading it.
      instructions: estimateTokens(statSync(skill.file, { throwIfNoEntry: false })?.size ?? 0),
    },
    ...counts,
  };
  return { row, file: skill.file, offered, problems };
}

/** The row of a skill that is not offered, from the problems that say why. */
function toUnofferedSkill(file: string, problems: readonly Problem[], roots: DisplayRoots): ShownSkill {
  const isShadowed = problems.some(({ code }) => code === "skill-shadowed");
  const why = problems.find(({ code, severity }) => (isShadowed ? code === "skill-shadowed" : severity === "error"));
  const row: SkillRow = {
    id: file,
    name: path.basename(path.dirname(file)),
    description: why?.message ?? "",
    kind: "instruction",
    version: "",
    namespace: "",
    source: directoryName(path.dirname(path.dirname(file)), roots),
    state: isShadowed ? "shadowed" : "invalid",
    tokens: { listed: 0, instructions: 0 },
    ...countProblems(problems),
  };
  return { row, file, problems };
}

/** The path as shown: relative inside the project, with `~` in the home directory, else absolute. */
function directoryName(file: string, { directory, home }: DisplayRoots): string {
  const relative = shownPath(file, directory);
  return relative === file ? homePath(file, home) : relative;
}

function countProblems(problems: readonly Problem[]): Pick<SkillRow, "errors" | "warnings"> {
  const count = (wanted: Problem["severity"]): number => problems.filter(({ severity }) => severity === wanted).length;
  return { errors: count("error"), warnings: count("warning") };
}

const ofDirectories: ReadonlySet<string> = new Set<RuleCode>([...unreadDirectory, "dangling-symlink"]);

/** The maximum number of unread directories listed. */
const maxUnread = 100;

/** The contents of a snapshot besides the skills that it offers. */
interface Unoffered {
  readonly shown: readonly ShownSkill[];
  /** Directories that were not read completely, so that skills may be missing. */
  readonly unread: readonly string[];
}

/** Finds the skills that are not offered, because a problem is an error or says that another skill hides them. */
function* findUnoffered({ skills, problems }: Snapshot, roots: DisplayRoots): Steps<Unoffered> {
  const offered = new Set<string>();
  let count = 0;
  if (problems.length > 0)
    for (const { versions } of skills) {
      for (const { file } of versions) offered.add(path.dirname(file));
      if (++count % rowsAtOnce === 0) yield;
    }
  const found = new Map<string, Problem[]>();
  const unread: string[] = [];
  for (const problem of problems) {
    if (++count % rowsAtOnce === 0) yield;
    const { file, code, severity, message } = problem;
    const directory = path.dirname(file);
    if (offered.has(directory)) continue;
    const isSkillFile = /^(?:skills?\.md|skill\.toml)$/i.test(path.basename(file));
    // A directory that was left out is named by the first skill in it.
    if (!isSkillFile || (ofDirectories.has(code) && code !== "unreadable" && code !== "dangling-symlink")) {
      if (severity !== "note" && ofDirectories.has(code) && unread.length < maxUnread)
        unread.push(`${directoryName(file, roots)}: ${message}`);
      continue;
    }
    const key = path.basename(file).toLowerCase() === "skill.toml" ? path.join(directory, "SKILL.md") : file;
    const own = found.get(key) ?? [];
    own.push(problem);
    found.set(key, own);
  }
  const shown = [...found]
    .filter(([, own]) => own.some(({ severity, code }) => severity === "error" || code === "skill-shadowed"))
    .map(([file, own]) => toUnofferedSkill(file, own, roots));
  return { shown, unread };
}
