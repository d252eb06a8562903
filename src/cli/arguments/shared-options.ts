import type { OptionTable } from "../command.ts";

/** Options for the directories of skills. */
export const roots = {
  skills: {
    type: "string",
    multiple: true,
    value: "DIR",
    help: "Also look for skills in DIR, before the default roots. Repeatable.",
  },
  "no-default-roots": { type: "boolean", help: "Look in the --skills directories only." },
} as const satisfies OptionTable;

export const cwd = {
  type: "string",
  value: "DIR",
  help: "The project's directory. Default: the current directory.",
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
