import satisfies from "semver/functions/satisfies.js";
import { diskSkillBytes, diskSkillFiles, type SkillSource } from "../../../skills/files.ts";
import { type OfferedSkill, type Skill, noSuchSkill, requirementsFile } from "../../../skills/skill.ts";
import { running } from "../../arguments/running-options.ts";
import { listing } from "../../arguments/shared-options.ts";
import { toAbsolute } from "../../arguments/values.ts";
import { defineCommand, exit } from "../../command.ts";
import { createListing } from "../../listing.ts";
import { table } from "../../report/table.ts";
import { counted } from "../../../base/text/code-points.ts";
import { safeText } from "../../report/safe-text.ts";
import type { Terminal } from "../../report/terminal.ts";
import {
  type Match,
  type Status,
  describeDemand,
  matchSkill,
  summarise,
  type EnvironmentProbes,
  type FoundSandbox,
  hostMachine,
} from "../../../skills/environment.ts";
import { isSkillsError } from "../../../base/errors.ts";
import { readOptions } from "../../../runtime/options.ts";
import { openRunEnvironment } from "../../../runtime/runs.ts";
import type { Catalog } from "../../../skills/skillset.ts";
import { locateSkillFile } from "../../../skills/hash.ts";

export const command = defineCommand({
  positionals: { name: "NAME", minimum: 0, maximum: Infinity, values: "skills" },
  options: { ...listing, "secrets-file": running["secrets-file"] },
  examples: ["env", "env pdf --json"],
  notes: [
    "Compares what skills require with this machine: programs, systems, secrets, packages, other skills.",
    "Reads metadata.requires, skill.toml, scripts/ and code/requirements.txt. What is stated in words, as in compatibility, is quoted and not checked.",
    "Uses no network, and runs no program.",
    "Exits with 1 if something is missing.",
  ],
  async run({ options, positionals: names }, terminal) {
    const listed = await createListing(options, terminal);
    const { catalog } = listed;
    let { status } = listed;
    const offers: OfferedSkill[] = [];
    for (const name of new Set(names)) {
      const offered = catalog.find(name);
      if (offered !== undefined) offers.push(offered);
      else {
        terminal.note(noSuchSkill(name, catalog.snapshot));
        status = exit.unable;
      }
    }
    const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
    const probes = openEnvironmentProbes(catalog, source, options, terminal);
    const asked: MatchedSkill[] = [];
    terminal.progress.show("looking at this machine");
    try {
      for (const { skill } of names.length === 0 ? catalog.snapshot.skills : offers)
        asked.push({ skill, matches: await matchSkill(skill, source, probes.of(skill)) });
    } finally {
      terminal.progress.done();
      await probes.close();
    }
    if (options.json === true) await terminal.printJson(toShown(asked));
    else await terminal.print(describe(asked, names.length === 0, terminal));
    const isMissing = asked.some(({ matches }) => summarise(matches)?.status === "missing");
    return status !== exit.done ? status : isMissing ? exit.found : exit.done;
  },
});

interface MatchedSkill {
  readonly skill: Skill;
  readonly matches: readonly Match[];
}

/** The `--json` output; `requirements` is empty for skills that require nothing. */
function toShown(skills: readonly MatchedSkill[]): object {
  return {
    machine: { system: process.platform, architecture: process.arch, node: process.versions.node },
    counts: countSkills(skills),
    skills: skills.map(({ skill, matches }) => ({
      name: skill.name,
      version: skill.version,
      path: skill.file,
      status: summarise(matches)?.status ?? null,
      requirements: matches.map(toShownMatch),
    })),
  };
}

/** One requirement in the `--json` output, with keys in a fixed order. */
function toShownMatch({ requirement, status, evidence, advice }: Match): object {
  const { where, certainty, ...demand } = requirement;
  const name = describeDemand(requirement);
  return { ...demand, name, status, evidence, ...(advice !== undefined && { advice }), certainty, where };
}

function countSkills(skills: readonly MatchedSkill[]) {
  const statuses = skills.map(({ matches }) => summarise(matches)?.status);
  const count = (wanted: Status | undefined): number => statuses.filter((status) => status === wanted).length;
  return {
    skills: skills.length,
    missing: count("missing"),
    unknown: count("unknown"),
    met: count("met"),
    nothing: count(undefined),
  };
}

const order: readonly Status[] = ["missing", "unknown", "met"];

function* describe(skills: readonly MatchedSkill[], isAll: boolean, terminal: Terminal): Iterable<string> {
  const { missing, unknown, met, nothing } = countSkills(skills);
  if (isAll) {
    const parts = [
      `${missing} without something that they require`,
      `${unknown} unknown`,
      `${met} with all that they require`,
      `${nothing} without requirements`,
    ];
    yield `${counted(skills.length, "skill")}: ${parts.join(", ")}\n`;
  }
  const worst = ({ matches }: MatchedSkill): number => order.indexOf(summarise(matches)?.status ?? "met");
  const rows = skills
    .toSorted((a, b) => worst(a) - worst(b))
    .flatMap(({ skill, matches }) =>
      [...matches]
        .sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status))
        .map((match) => toRow(skill, match)),
    );
  if (rows.length === 0) {
    if (!isAll) yield "nothing is required\n";
    return;
  }
  if (isAll) yield "\n";
  yield* table(["STATUS", "SKILL", "REQUIRES", "WRITTEN IN", "FOUND"], rows, terminal);
}

function toRow(skill: Skill, { requirement, status, evidence, advice }: Match): readonly string[] {
  const { where } = requirement;
  const origin = where.field === "" ? where.file : `${where.file} ${where.field}`;
  const found = advice === undefined || status === "met" ? evidence : `${evidence}. ${advice}`;
  const [name, shown] =
    requirement.kind === "text" ? [evidence, describeDemand(requirement)] : [describeDemand(requirement), found];
  return [status, skill.slug, name, origin, shown].map(safeText);
}

const maxFileBytes = 1024 * 1024;

/** Opens probes of this machine as runs find it: its sandbox, secrets, packages and skills, each probed once. */
export function openEnvironmentProbes(
  catalog: Catalog,
  source: SkillSource,
  { "secrets-file": secretsFile }: { readonly "secrets-file"?: string },
  terminal: Terminal,
): { of(skill: Skill): Required<EnvironmentProbes>; close(): Promise<void> } {
  const { home, log } = terminal;
  const given = { log, ...(secretsFile !== undefined && { secretsFile: toAbsolute(secretsFile) }) };
  const settings = readOptions(given, { home });
  const environment = openRunEnvironment(settings);
  const machine = hostMachine();
  const secrets = new Map<string, Promise<boolean>>();
  let sandbox: Promise<FoundSandbox> | undefined;

  return {
    of: (skill) => ({
      machine,
      findSandbox: () => (sandbox ??= environment.findSandbox()),
      hasSecret(name) {
        const asked =
          secrets.get(name) ?? environment.readSecret(name, skill.name).then((value) => value !== undefined);
        secrets.set(name, asked);
        return asked;
      },
      findSkill(dependency) {
        const [name = dependency, range] = dependency.split("@");
        const versions = catalog.find(name)?.versions ?? [];
        return versions.find(({ version }) => range === undefined || satisfies(version, range))?.version;
      },
      async hasPackages() {
        const file = locateSkillFile(source, skill, requirementsFile);
        const part = file === undefined ? undefined : source.bytes.head(file, maxFileBytes);
        if (part === undefined) return true;
        try {
          return (await environment.findPackages(skill, part.bytes)) !== undefined;
        } catch (error) {
          if (!isSkillsError(error)) throw error;
          return false;
        }
      },
    }),
    close: () => environment.close(),
  };
}
