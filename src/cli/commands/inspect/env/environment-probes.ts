import satisfies from "semver/functions/satisfies.js";
import { isSkillsError } from "../../../../base/errors.ts";
import { readOptions } from "../../../../runtime/options.ts";
import { openRunEnvironment } from "../../../../runtime/runs.ts";
import type { SkillSource } from "../../../../skills/files.ts";
import { locateSkillFile } from "../../../../skills/hash.ts";
import { type Skill, requirementsFile } from "../../../../skills/skill.ts";
import type { Listing } from "../../../listing/open-listing.ts";
import type { Terminal } from "../../../report/terminal.ts";
import { type EnvironmentProbes, type FoundSandbox, hostMachine } from "../../../../skills/environment.ts";

interface ProbeOptions extends Pick<Terminal, "home" | "log"> {
  readonly cwd: string;
  readonly secretsFile: string | undefined;
}

const longestFile = 1024 * 1024;

/** This machine as runs find it: its sandbox, secrets, packages and skills, each looked for once. */
export function openEnvironmentProbes(
  { catalog }: Pick<Listing, "catalog">,
  source: SkillSource,
  { home, log, cwd, secretsFile }: ProbeOptions,
): { of(skill: Skill): Required<EnvironmentProbes>; close(): Promise<void> } {
  const settings = readOptions({ log, ...(secretsFile !== undefined && { secretsFile }) }, { home });
  const environment = openRunEnvironment(settings);
  const machine = hostMachine({ projects: () => [cwd], home });
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
        const part = file === undefined ? undefined : source.bytes.head(file, longestFile);
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
