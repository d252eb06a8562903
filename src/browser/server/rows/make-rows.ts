import type { Steps } from "../../../base/promises.ts";
import type { OfferedSkill, Snapshot } from "../../../skills/skill.ts";
import { type Rows, rowsAtOnce, type ShownSkill } from "./row-texts.ts";
import { statSync } from "node:fs";
import path from "node:path";
import { homePath, shownPath } from "../../../base/paths/location.ts";
import type { Problem, RuleCode } from "../../../skills/rules.ts";
import type { Standing } from "../../../runtime/trust.ts";
import type { SkillRow, SkillState } from "../../wire/skills.ts";
import type { Summary } from "../../../skills/environment.ts";
import { unreadPlace } from "../../../skills/skillset.ts";

/** Makes the rows of snapshots; those of skills of which nothing changed are the same objects. */
interface RowMaker {
  readonly make: (snapshot: Snapshot) => Steps<Rows>;
  /** Forgets the row of a skill whose files changed, which its offer does not show. */
  readonly forget: (offered: OfferedSkill) => void;
}

export function createRowMaker(places: DisplayDirectories, knownOf: (offered: OfferedSkill) => KnownOfSkill): RowMaker {
  const made = new WeakMap<OfferedSkill, { readonly known: KnownOfSkill; readonly shown: ShownSkill }>();
  let others:
    { readonly of: Snapshot; readonly shown: readonly ShownSkill[]; readonly unread: readonly string[] } | undefined;

  function toShown(offered: OfferedSkill): ShownSkill {
    const known = knownOf(offered);
    const last = made.get(offered);
    if (last !== undefined && isSameKnown(last.known, known)) return last.shown;
    const shown = toShownSkill(offered, known, places);
    made.set(offered, { known, shown });
    return shown;
  }

  function* othersOf(snapshot: Snapshot): Steps<NonNullable<typeof others>> {
    if (others?.of === snapshot) return others;
    const { skills, unread } = yield* findUnoffered(snapshot);
    others = {
      of: snapshot,
      shown: Array.from(skills, ([file, problems]) => toUnofferedSkill(file, problems, places)),
      unread: unread.map(({ file, message }) => `${placeName(file, places)}: ${message}`),
    };
    return others;
  }

  return {
    *make(snapshot) {
      const found: ShownSkill[] = [];
      for (const offered of snapshot.skills) {
        found.push(toShown(offered));
        if (found.length % rowsAtOnce === 0) yield;
      }
      const { shown, unread } = yield* othersOf(snapshot);
      if (shown.length > 0) found.push(...shown);
      if (shown.length > 0) found.sort((a, b) => byText(a.row.name, b.row.name) || byText(a.row.id, b.row.id));
      return { byId: new Map(found.map((one) => [one.row.id, one])), unread };
    },
    forget: (offered) => void made.delete(offered),
  };
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function isSameKnown(a: KnownOfSkill, b: KnownOfSkill): boolean {
  return a.standing === b.standing && a.wasApproved === b.wasApproved && a.environment === b.environment;
}

/** Where people say that something is. */
export interface DisplayDirectories {
  readonly directory: string;
  readonly home: string;
}

/** What is found out about a skill besides its frontmatter. */
interface KnownOfSkill {
  /** Absent if it can be used, and as long as it is not known. */
  readonly standing: Exclude<Standing, "ready"> | undefined;
  /** Another version of it was approved. */
  readonly wasApproved: boolean;
  readonly environment: Summary | undefined;
}

/** Models read about four characters as one token. */
function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4);
}

function toShownSkill(offered: OfferedSkill, known: KnownOfSkill, places: DisplayDirectories): ShownSkill {
  const { skill, problems } = offered;
  const { standing, wasApproved, environment } = known;
  const [errors, warnings] = countProblems(problems);
  const isChanged = standing === "needs-approval" && wasApproved;
  const state: SkillState = isChanged ? "changed" : (standing ?? (errors + warnings > 0 ? "warnings" : "ok"));
  const row: SkillRow = {
    id: skill.slug,
    name: skill.slug,
    ...(skill.name !== skill.slug && { canonicalName: skill.name }),
    ...(isOtherFolder(skill) && { folder: path.basename(skill.directory) }),
    description: skill.description,
    kind: skill.kind,
    version: skill.version,
    namespace: skill.namespace,
    source: offered.remote?.label ?? placeName(offered.sources[0] ?? skill.directory, places),
    state,
    ...(skill.license !== undefined && { license: skill.license }),
    ...(skill.compatibility !== undefined && { compatibility: skill.compatibility }),
    ...(environment !== undefined && {
      environment: {
        status: environment.status,
        ...(environment.missing.length > 0 && { missing: environment.missing }),
      },
    }),
    ...(skill.allowedTools !== undefined && { allowedTools: skill.allowedTools }),
    tokens: tokensOf(skill.slug, skill.description, skill.file),
    errors,
    warnings,
  };
  return { row, file: skill.file, offered, problems };
}

/** A version may have a directory of its own below the one with the name. */
function isOtherFolder({ slug, version, directory }: OfferedSkill["skill"]): boolean {
  const folder = path.basename(directory);
  return folder !== slug && folder !== version;
}

/** A skill that is not offered, by the problems that say why. */
function toUnofferedSkill(file: string, problems: readonly Problem[], places: DisplayDirectories): ShownSkill {
  const [errors, warnings] = countProblems(problems);
  const isShadowed = problems.some(({ code }) => code === "skill-shadowed");
  const name = path.basename(path.dirname(file));
  const [first] = problems.filter(({ code, severity }) =>
    isShadowed ? code === "skill-shadowed" : severity === "error",
  );
  const description = first?.message ?? "";
  const row: SkillRow = {
    id: file,
    name,
    description,
    kind: "instruction",
    version: "",
    namespace: "",
    source: placeName(path.dirname(path.dirname(file)), places),
    state: isShadowed ? "shadowed" : "invalid",
    tokens: { listed: 0, instructions: 0 },
    errors,
    warnings,
  };
  return { row, file, problems };
}

/** Relative inside the project, with `~` in the home directory, else absolute. */
function placeName(place: string, { directory, home }: DisplayDirectories): string {
  const relative = shownPath(place, directory);
  return relative === place ? homePath(place, home) : relative;
}

/** The name and description in a list, and the file when it is read: all of its bytes, because nothing else is known without reading it. */
function tokensOf(name: string, description: string, file: string): SkillRow["tokens"] {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return { listed: estimateTokens(name.length + description.length), instructions: estimateTokens(size) };
}

function countProblems(problems: readonly Problem[]): readonly [errors: number, warnings: number] {
  const count = (wanted: Problem["severity"]): number => problems.filter(({ severity }) => severity === wanted).length;
  return [count("error"), count("warning")];
}

/** What a snapshot has besides the skills that it offers. */
interface Unoffered {
  /** The problems of each skill that is not offered, by the path of its file. */
  readonly skills: ReadonlyMap<string, readonly Problem[]>;
  /** What was not read whole, so that skills may be missing. */
  readonly unread: readonly Problem[];
}

const ofPlaces: ReadonlySet<string> = new Set<RuleCode>([...unreadPlace, "dangling-symlink"]);

/** The number of places that are listed; others are left out. */
const mostUnread = 100;

/** Finds the skills that are not offered: those with problems of which one is an error or says that another skill hides it. */
function* findUnoffered({ skills, problems }: Snapshot): Steps<Unoffered> {
  const offered = new Set<string>();
  let count = 0;
  if (problems.length > 0)
    for (const { versions } of skills) {
      for (const { file } of versions) offered.add(path.dirname(file));
      if (++count % rowsAtOnce === 0) yield;
    }
  const found = new Map<string, Problem[]>();
  const unread: Problem[] = [];
  for (const problem of problems) {
    if (++count % rowsAtOnce === 0) yield;
    const { file, code, severity } = problem;
    const directory = path.dirname(file);
    if (offered.has(directory)) continue;
    // A place that was left out is named by the first skill in it.
    if (!isSkillFile(file) || (ofPlaces.has(code) && code !== "unreadable" && code !== "dangling-symlink")) {
      if (severity !== "note" && ofPlaces.has(code) && unread.length < mostUnread) unread.push(problem);
      continue;
    }
    const key = path.basename(file).toLowerCase() === "skill.toml" ? path.join(directory, "SKILL.md") : file;
    const others = found.get(key);
    if (others === undefined) found.set(key, [problem]);
    else others.push(problem);
  }
  for (const [file, own] of found)
    if (!own.some(({ severity, code }) => severity === "error" || code === "skill-shadowed")) found.delete(file);
  return { skills: found, unread };
}

function isSkillFile(file: string): boolean {
  return /^(?:skills?\.md|skill\.toml)$/i.test(path.basename(file));
}
