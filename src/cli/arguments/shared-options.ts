import type { SkillsOptions } from "../../runtime/options.ts";
import type { OptionTable, OptionValues } from "../command.ts";

/** Options for the directories of skills. */
export const roots = {
  skills: {
    type: "string",
    multiple: true,
    value: "DIR",
    help: "Also look for skills in DIR, before the default roots. Repeatable.",
  },
  source: {
    type: "string",
    multiple: true,
    value: "SOURCE",
    help: "Also offer the skills that SOURCE publishes, after all local ones: a domain or URL, OWNER/REPO of GitHub, or any git URL. Repeatable.",
  },
  "allow-private": {
    type: "string",
    multiple: true,
    value: "HOST",
    help: "A --source may be on HOST although its address is private. Repeatable.",
  },
  "no-default-roots": { type: "boolean", help: "Look in the --skills directories and --source only." },
} as const satisfies OptionTable;

/** The sources as settings. */
export function toSourceOptions({
  source,
  "allow-private": allowPrivate,
}: OptionValues<typeof roots>): Pick<SkillsOptions, "sources" | "allowPrivate"> {
  return {
    ...(source !== undefined && { sources: source }),
    ...(allowPrivate !== undefined && { allowPrivate }),
  };
}

export const cwd = {
  type: "string",
  value: "DIR",
  help: "The project's directory. Default: the current directory.",
} as const;

export const allowPrivate = {
  type: "string",
  multiple: true,
  value: "HOST",
  help: "Also connect to HOST[:PORT] if its address is private. Repeatable.",
} as const;

export const json = { type: "boolean", help: "Print JSON." } as const;

export const listing = { ...roots, cwd, json } as const satisfies OptionTable;

/** Help notes shared by several commands. */
export const notes = {
  roots: "Default roots: .agents/skills and .claude/skills in the project, then in your home directory.",
  sandbox:
    "Code is sandboxed: no network, no secrets and no access to the project, unless --grant gives them to its skill.",
  secrets: "Secrets are read from the environment, then --secrets-file, then the system's keychain.",
  data: "Blobs, the ledger, run records and packages are stored in $ACP_SKILLS_HOME. Default: ~/.local/share/acp-skills, or the platform's equivalent.",
} as const;
