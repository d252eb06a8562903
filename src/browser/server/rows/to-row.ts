import { statSync } from "node:fs";
import path from "node:path";
import { homePath, shownPath } from "../../../base/paths/shown-path.ts";
import type { Problem } from "../../../skills/rules.ts";
import type { OfferedSkill } from "../../../skills/skill.ts";
import type { Standing } from "../../../runtime/trust.ts";
import type { SkillRow, SkillState } from "../../wire/skills.ts";
import type { ShownSkill } from "./shown-skill.ts";
import type { Summary } from "../../../skills/environment.ts";

/** Where people say that something is. */
export interface DisplayDirectories {
  readonly directory: string;
  readonly home: string;
}

/** What is found out about a skill besides its frontmatter. */
export interface KnownOfSkill {
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

export function toShownSkill(offered: OfferedSkill, known: KnownOfSkill, places: DisplayDirectories): ShownSkill {
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
export function toUnofferedSkill(file: string, problems: readonly Problem[], places: DisplayDirectories): ShownSkill {
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
export function placeName(place: string, { directory, home }: DisplayDirectories): string {
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
