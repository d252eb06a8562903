import { SkillsError, isSkillsError } from "../../../base/errors.ts";
import { packagesIn } from "../../../runtime/runs.ts";
import { findPython, installRequirements } from "../../../runtime/sandbox.ts";
import { diskSkillBytes, diskSkillFiles } from "../../../skills/files.ts";
import { locateSkillFile } from "../../../skills/hash.ts";
import { listing, dataNote } from "../../arguments/shared-options.ts";
import { existingDirectory } from "../../arguments/values.ts";
import { defineCommand, text, type ExitCode, exit } from "../../command.ts";
import { defaultDataDirectory } from "../../../base/paths/directories.ts";
import { createListing, findOffered } from "../../listing.ts";
import { reportRefusal } from "../../report/outcome.ts";
import { interruptible } from "../../report/terminal.ts";
import { requirementsFile } from "../../../skills/skill.ts";

const maxFileBytes = 1024 * 1024;

export const command = defineCommand({
  positionals: { name: "NAME", minimum: 1, maximum: 1, values: "skills" },
  options: {
    "find-links": text("DIR", "Install from the wheels in DIR only, without network."),
    ...listing,
  },
  examples: ["install rows.clean", "install rows.clean --find-links ./wheels"],
  notes: [
    "Installs what the skill's code/requirements.txt lists, with uv, else pip, from the index that you configured.",
    "Wheels only: no code of a package runs during installation. Runs see the packages read-only.",
    "Exits with 0 also if the skill requires nothing.",
    dataNote,
  ],
  async run({ options: given, positionals: [name = ""] }, terminal) {
    const { "find-links": links } = given;
    const wheels = links === undefined ? undefined : existingDirectory("--find-links", links);
    const { catalog, status } = await createListing(given, terminal);
    if (status !== exit.done) return status;
    const { skill } = findOffered(catalog, name);
    const report = async (python: string | null, directory: string | null): Promise<ExitCode> => {
      if (given.json === true) await terminal.printJson({ skill: skill.name, python, directory });
      else if (python !== null) await terminal.print([`${skill.name} has its packages, for Python ${python}\n`]);
      return exit.done;
    };
    const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
    const file = locateSkillFile(source, skill, requirementsFile);
    const part = file === undefined ? undefined : source.bytes.head(file, maxFileBytes);
    if (part === undefined) {
      terminal.note(`${skill.name} has no ${requirementsFile}; nothing to install`);
      return await report(null, null);
    }
    if (part.bytes.length < part.size)
      throw new SkillsError(
        "FILE_TOO_LARGE",
        `${requirementsFile} of ${skill.name} is larger than 1 MiB; nothing was installed`,
      );
    const python = await findPython();
    if ("reason" in python) throw new SkillsError("SANDBOX_UNAVAILABLE", python.reason);
    terminal.progress.show(`installing the packages of ${skill.name}`);
    const install = async (signal: AbortSignal): Promise<ExitCode> => {
      const { directory } = await installRequirements({
        requirements: part.bytes,
        python: python.executable,
        cache: packagesIn(defaultDataDirectory(terminal.home)),
        log: terminal.log,
        skill: skill.directory,
        ...(wheels !== undefined && { wheels }),
        signal,
      });
      return await report(python.version, directory);
    };
    try {
      return await interruptible(terminal, install, "interrupted; nothing was installed");
    } catch (error) {
      if (!isSkillsError(error)) throw error;
      return reportRefusal(error, given, terminal);
    }
  },
});
