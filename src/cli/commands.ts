/** One option, as both the parser and `--help` need it. */
export interface Option {
  readonly type: "string" | "boolean";
  readonly short?: string;
  readonly multiple?: boolean;
  /** What `--help` calls the value. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly help: string;
}

export interface Command {
  /** How it is called, after `acp-skills`. */
  readonly usage: string;
  readonly summary: string;
  /** What stands where no option does; undefined where nothing may. */
  readonly positionals?: { readonly name: string; readonly minimum: number; readonly maximum: number };
  readonly options: Readonly<Record<string, Option>>;
  /** Lines that `--help` adds. */
  readonly notes: readonly string[];
}

const help = { type: "boolean", short: "h", help: "Show this help." } as const satisfies Option;

const roots = {
  skills: {
    type: "string",
    multiple: true,
    value: "DIR",
    help: "Look for skills in DIR too, before the default roots. Repeatable.",
  },
  "no-default-roots": {
    type: "boolean",
    help: "Look in the --skills directories only.",
  },
} as const satisfies Record<string, Option>;

const cwd = { type: "string", value: "DIR", help: "The project's directory. Default: the current one." } as const;
const json = { type: "boolean", help: "Print JSON." } as const;

/** What code may do, for every command that can run some. */
const running = {
  grant: {
    type: "string",
    multiple: true,
    value: "NAME:PERMISSION[,…]",
    help: "Let the skill NAME use network, secrets, project-read or project-write. Repeatable.",
  },
  "secrets-file": { type: "string", value: "FILE", help: "Look up secrets in FILE (NAME=value lines) too." },
  isolation: {
    type: "string",
    choices: ["auto", "bubblewrap", "landlock", "seatbelt", "pyodide"],
    help: "What isolates code. Default: auto, the best that works here.",
  },
} as const satisfies Record<string, Option>;

const listing = { ...roots, cwd, json, help } as const satisfies Record<string, Option>;

const dataPlace =
  "Blobs, the ledger and packages are in $ACP_SKILLS_HOME, or where the system keeps a user's data (~/.local/share/acp-skills).";

const held = "Code runs isolated: without network, secrets and the project, unless --grant gives them to its skill.";
const secretPlaces = "Secrets come from the environment, then from --secrets-file, then from the system's keychain.";

const defaultRoots = "Default roots: .agents/skills and .claude/skills of the project, then of your home directory.";

/** Every command there is; parsing and help both come from here. */
export const commands = {
  wrap: {
    usage: "[options] -- AGENT [ARG…]",
    summary: "Run an ACP agent and add skills to its sessions.",
    options: {
      ...roots,
      log: { type: "string", value: "FILE", help: "Append diagnostics to FILE, with times; only errors go to stderr." },
      emit: {
        type: "string",
        choices: ["auto", "rfd", "commands", "none"],
        help: "In which forms the editor is told of skills. Default: auto, those it understands; none with --tools none: a pure pipe.",
      },
      tools: {
        type: "string",
        choices: ["auto", "stdio", "none"],
        help: "How tools are served: over HTTP or stdio, over stdio only, or not at all. Default: auto.",
      },
      ...running,
      "no-teach": { type: "boolean", help: "Do not tell the model which skills there are; it may still list them." },
      "no-approve": { type: "boolean", help: "Leave the agent's requests to use read-only tools to the editor." },
      help,
      version: { type: "boolean", short: "v", help: "Show the version." },
    },
    notes: [
      "Everything after -- is the agent's command. Its exit code is ours; 127: not found, 126: not executable.",
      held,
      defaultRoots,
    ],
  },
  list: {
    usage: "list [options]",
    summary: "List the skills that a session would have.",
    options: listing,
    notes: [defaultRoots, "Exits 1 when a --skills directory cannot be read, else 0, whatever problems skills have."],
  },
  show: {
    usage: "show NAME [options]",
    summary: "Show everything about one skill.",
    positionals: { name: "NAME", minimum: 1, maximum: 1 },
    options: listing,
    notes: ["NAME is the slug (salesforce-leads-sync) or the dotted name (salesforce.leads.sync).", defaultRoots],
  },
  check: {
    usage: "check [PATH…] [options]",
    summary: "Validate skills and point at what is wrong.",
    positionals: { name: "PATH", minimum: 0, maximum: Infinity },
    options: {
      level: {
        type: "string",
        choices: ["spec", "wire", "lenient"],
        help: "Which rules count. Default: spec, the Agent Skills specification.",
      },
      reporter: {
        type: "string",
        choices: ["pretty", "json", "github", "sarif"],
        help: "How problems are printed. Default: pretty.",
      },
      fix: { type: "boolean", help: "Repair what is unambiguous, in place, then report what is left." },
      watch: { type: "boolean", help: "Check again on every change, until interrupted." },
      help,
    },
    notes: [
      "PATH is a SKILL.md, a skill's directory, or a directory that holds many. Default: the current directory.",
      "Below a directory, .agents/skills and .claude/skills are looked into as well.",
      "Exits 1 when there is an error, or when a PATH does not exist or holds no skill; warnings alone exit 0.",
    ],
  },
  call: {
    usage: "call TOOL [INPUT] [options]",
    summary: "Call one of the tools that agents call.",
    positionals: { name: "TOOL", minimum: 1, maximum: 2 },
    options: { ...roots, ...running, cwd, help },
    notes: [
      "INPUT is the tool's input as JSON, @FILE for a file that holds it, or - for stdin. Default: {}.",
      "Prints the result as JSON, also of a run that failed. Exits 1 with the error as JSON on stderr when the tool refuses.",
      "acp-skills tools shows which tools there are and what they take.",
      held,
      defaultRoots,
      dataPlace,
    ],
  },
  run: {
    usage: "run NAME [options]",
    summary: "Run a skill in its sandbox.",
    positionals: { name: "NAME", minimum: 1, maximum: 1 },
    options: {
      script: { type: "string", value: "PATH", help: "Run this file of the skill, such as scripts/extract.py." },
      args: {
        type: "string",
        value: "JSON",
        help: "Arguments as a JSON object, @FILE for a file that holds it, or - for stdin. Default: {}.",
      },
      blob: { type: "string", multiple: true, value: "FILE", help: "Give the run FILE as a blob. Repeatable." },
      timeout: { type: "string", value: "MS", help: "Milliseconds it may take, up to 600000. Default: 30000." },
      "dry-run": { type: "boolean", help: "Check everything, say what would be run, and run nothing." },
      ...running,
      ...roots,
      cwd,
      json,
      help,
    },
    notes: [
      "What the code prints appears on stderr while it runs; the result is on stdout.",
      'In --args, "@1" as a whole value stands for the first --blob, "@2" for the second.',
      'With --script, --args is {"argv": ["--in", "x"], "stdin": "…"}.',
      held,
      secretPlaces,
      "Exits 1 when the run fails or is refused, 130 when it is interrupted.",
      defaultRoots,
      dataPlace,
    ],
  },
  install: {
    usage: "install NAME [options]",
    summary: "Install the Python packages that a skill's code needs.",
    positionals: { name: "NAME", minimum: 1, maximum: 1 },
    options: {
      "find-links": { type: "string", value: "DIR", help: "Take packages from DIR only; no network is used." },
      ...roots,
      cwd,
      json,
      help,
    },
    notes: [
      "They are listed in the skill's code/requirements.txt, and installed with uv, else pip, from the index that you configured.",
      "Wheels only: nothing of a package runs while it is installed. Its runs see it read-only.",
      "Exits 1 when that cannot be done; 0 also where nothing is asked for.",
      dataPlace,
    ],
  },
  doctor: {
    usage: "doctor [options]",
    summary: "Tell what works on this machine, and how to mend what does not.",
    options: { ...roots, ...running, cwd, json, help },
    notes: ["Each tier is tried from inside, which takes a few seconds.", "Exits 1 when nothing can execute code."],
  },
  tools: {
    usage: "tools [options]",
    summary: "Print the tools' definitions, to be pasted into a model call.",
    options: {
      format: {
        type: "string",
        choices: ["mcp", "openai", "anthropic", "json-schema"],
        help: "Whose form they have. Default: mcp.",
      },
      help,
    },
    notes: [],
  },
  mcp: {
    usage: "mcp [options]",
    summary: "Serve the skills and their tools to any MCP client, over stdio.",
    options: { ...roots, ...running, cwd, help },
    notes: [held, defaultRoots, dataPlace, "Ends when the client closes stdin."],
  },
  blobs: {
    usage: "blobs list|show|rm|sweep [ID…] [options]",
    summary: "Look after the blobs that tools keep.",
    positionals: { name: "list, show, rm or sweep", minimum: 1, maximum: Infinity },
    options: {
      raw: { type: "boolean", help: "With show: print the bytes, and nothing else." },
      json,
      help,
    },
    notes: [
      "list: every blob, oldest first. show ID: what it is, and how it begins. rm ID…: forget it now.",
      "sweep: forget what has expired and nobody uses, and what crashed processes left behind.",
      "Exits 1 where there is no such blob.",
      dataPlace,
    ],
  },
  ledger: {
    usage: "ledger [options]",
    summary: "Show which skill was used when, by which tool, in which session.",
    options: { json, help },
    notes: [dataPlace],
  },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof commands;
