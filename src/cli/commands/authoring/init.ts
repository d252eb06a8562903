import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { capitalised } from "../../../base/text/code-points.ts";
import { systemCode } from "../../../base/failures/system-error.ts";
import { makeDirectories } from "../../../base/paths/directories.ts";
import { packageUrl, shownPath, whereItLies } from "../../../base/paths/location.ts";
import { leadsIntoGit } from "../../../base/paths/guarded-names.ts";
import { SkillsError } from "../../../base/errors.ts";
import { makeSkillsDirectory, projectScope } from "../../../sources/install-scope.ts";
import { json } from "../../arguments/shared-options.ts";
import { toAbsolute } from "../../arguments/values.ts";
import { defineCommand, usageError, flag, text, exit } from "../../command.ts";
import { isSlug, toSlug } from "../../../skills/skill.ts";
import { shellWord } from "../../../base/text/quoted.ts";

/** The directory in which every agent that reads skills looks for them. */
const usualDirectory = path.join(".agents", "skills");

export const command = defineCommand({
  positionals: { name: "NAME", minimum: 1, maximum: 1 },
  options: {
    action: flag("An action: code with typed inputs, described by a skill.toml."),
    script: flag("Instructions, and a Python script for the model to run."),
    directory: text("DIR", `Create the skill in DIR. Default: ${usualDirectory}.`),
    json,
  },
  examples: ["init commit-message", "init csv-report --script", "init rows.sort --action"],
  notes: [
    "NAME is lower-case words with hyphens; for an action, parts with dots, such as rows.sort. It is the name of the directory.",
    "Nothing is overwritten.",
  ],
  async run({ options, positionals: [name = ""] }, terminal) {
    if (options.action === true && options.script === true)
      throw usageError("--action and --script exclude each other");
    refuseName(name, options.action === true);
    const inside = options.directory ?? usualDirectory;
    const directory = path.join(toAbsolute(inside), name);
    const kind = options.action === true ? "action" : options.script === true ? "script" : "instructions";
    const files = filesOf(kind, name);
    // A link that came with the project may lead anywhere; only links in a directory that the user named are followed.
    if (options.directory === undefined) makeSkillsDirectory(projectScope(terminal.cwd, terminal.home, process.env));
    if (leadsIntoGit(whereItLies(directory), whereItLies(terminal.cwd)))
      throw new SkillsError("PERMISSION_DENIED", `${directory} is not created: it leads into a repository of git.`);
    createSkill(directory, files);
    if (options.json === true) {
      await terminal.printJson({ name, directory, files: Object.keys(files) });
      return exit.done;
    }
    const shown = shownPath(directory, terminal.cwd);
    const rootOption = options.directory === undefined ? "" : ` --skills ${shellWord(inside)}`;
    const trial =
      options.action === true
        ? [`acp-skills run ${name}${rootOption} --args '{"text": "hello"}'   # run it in the sandbox`]
        : options.script === true
          ? [`acp-skills run ${name}${rootOption} --script scripts/main.py -- hello   # run it in the sandbox`]
          : [];
    await terminal.print([
      `created ${shellWord(shown)}\n`,
      ...Object.keys(files).map((file) => `  ${file}\n`),
      "next:\n",
      `  edit ${shellWord(path.join(shown, "SKILL.md"))}: say what the skill does, and when to use it\n`,
      `  acp-skills check ${shellWord(shown)}\n`,
      ...trial.map((line) => `  ${line}\n`),
      `  acp-skills list${rootOption}\n`,
    ]);
    return exit.done;
  },
});

const part = /^[a-z0-9]+$/;

function refuseName(name: string, isAction: boolean): void {
  const slug = toSlug(name);
  const parts = name.split(".");
  if (isAction ? parts.every((word) => part.test(word)) && isSlug(parts.join("-")) : isSlug(name)) return;
  const rule = isAction
    ? "the name of an action is parts of a-z and 0-9, separated by single dots, of at most 64 characters"
    : "a name is words of a-z and 0-9, separated by single hyphens, of at most 64 characters";
  const close = slug === undefined ? undefined : isAction ? slug.replaceAll("-", ".") : slug;
  throw usageError(`${name || "an empty text"} is not a name: ${rule}${close ? `; ${close} is one` : ""}`);
}

/** Creates the directory, which must not exist, and its files. */
function createSkill(directory: string, files: Readonly<Record<string, string>>): void {
  try {
    makeDirectories(path.dirname(directory), 0o755);
    mkdirSync(directory);
    for (const [file, text] of Object.entries(files)) {
      const target = path.join(directory, file);
      makeDirectories(path.dirname(target), 0o755);
      writeFileSync(target, text, { flag: "wx" });
    }
  } catch (error) {
    const code = systemCode(error);
    if (code === "") throw error;
    const reason = code === "EEXIST" ? "it exists already; choose another name" : `it cannot be written (${code})`;
    throw new SkillsError("UNREADABLE", `${directory} is not created: ${reason}.`, { cause: error });
  }
}

/** The files of each kind of skill, in a folder named after the kind. */
const templates = {
  instructions: ["SKILL.md"],
  script: ["SKILL.md", "scripts/main.py"],
  action: ["SKILL.md", "skill.toml", "code/main.py"],
} as const;

/** Text by file name. */
function filesOf(kind: keyof typeof templates, name: string): Readonly<Record<string, string>> {
  const words = name.replace(/[-.]/g, " ");
  const title = capitalised(words);
  const read = (file: string): string =>
    readFileSync(packageUrl(`cli/commands/authoring/init/${kind}/${file}`), "utf8");
  const fill = (text: string): string => text.replaceAll("SKILL_NAME", name).replaceAll("SKILL_TITLE", title);
  return Object.fromEntries(templates[kind].map((file) => [file, fill(read(file))]));
}
