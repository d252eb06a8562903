import type { ProgramDemand } from "./requirement.ts";

/** A program that people require by a name of its own. */
interface KnownProgram {
  readonly name: string;
  /** Other names that people write, in lower case. */
  readonly written?: readonly string[];
  /** The commands that start it, the usual one first. */
  readonly commands: readonly string[];
  /** Arguments that print its version, change nothing and use no network. Without them it is never run. */
  readonly version?: readonly string[];
}

const usual = ["--version"];

/**
 * The programs whose names are understood in text: those that have one meaning and are on PATH once they are installed. Only those with
 * `version` are ever run.
 */
const knownPrograms: readonly KnownProgram[] = [
  { name: "Python", written: ["python", "python3", "cpython"], commands: ["python3", "python", "py"], version: usual },
  { name: "Node.js", written: ["node", "nodejs", "node.js"], commands: ["node"], version: usual },
  { name: "Deno", commands: ["deno"], version: usual },
  { name: "Bun", commands: ["bun"], version: usual },
  { name: "Git", commands: ["git"], version: usual },
  { name: "uv", commands: ["uv"], version: usual },
  { name: "Go", written: ["golang"], commands: ["go"], version: ["version"] },
  { name: "Rust", commands: ["rustc"], version: usual },
  { name: "Cargo", commands: ["cargo"], version: usual },
  { name: "Ruby", commands: ["ruby"], version: usual },
  { name: "PHP", commands: ["php"], version: usual },
  { name: "Perl", commands: ["perl"], version: usual },
  { name: "Java", written: ["jdk", "jre", "openjdk"], commands: ["java"], version: usual },
  { name: "Docker", commands: ["docker"], version: usual },
  { name: "GitHub CLI", written: ["gh"], commands: ["gh"], version: usual },
  { name: "Bash", commands: ["bash"], version: usual },
  { name: "jq", commands: ["jq"], version: usual },
  { name: "CMake", commands: ["cmake"], version: usual },
  { name: "FFmpeg", commands: ["ffmpeg"], version: ["-version"] },
  { name: "Pandoc", commands: ["pandoc"], version: usual },
  { name: "npm", commands: ["npm"] },
  { name: "npx", commands: ["npx"] },
  { name: "pnpm", commands: ["pnpm"] },
  { name: "Yarn", commands: ["yarn"] },
  { name: "uvx", commands: ["uvx"] },
  { name: "pip", written: ["pip3"], commands: ["pip3", "pip"] },
  { name: "pipx", commands: ["pipx"] },
  { name: "curl", commands: ["curl"] },
  { name: "wget", commands: ["wget"] },
  { name: "ripgrep", written: ["rg"], commands: ["rg"] },
  { name: "Podman", commands: ["podman"] },
  { name: "kubectl", commands: ["kubectl"] },
  { name: "Helm", commands: ["helm"] },
  { name: "Terraform", commands: ["terraform"] },
  { name: "AWS CLI", written: ["aws"], commands: ["aws"] },
  { name: "Azure CLI", written: ["az"], commands: ["az"] },
  { name: "Google Cloud CLI", written: ["gcloud", "gcloud cli"], commands: ["gcloud"] },
  { name: "GitLab CLI", written: ["glab"], commands: ["glab"] },
  { name: ".NET SDK", written: ["dotnet", "dotnet sdk"], commands: ["dotnet"] },
  { name: "Octave", written: ["gnu octave"], commands: ["octave", "octave-cli"] },
  { name: "Poppler", written: ["poppler-utils", "pdftotext"], commands: ["pdftotext"] },
  { name: "Tesseract", written: ["tesseract-ocr", "tesseract ocr"], commands: ["tesseract"] },
  { name: "LaTeX", written: ["pdflatex"], commands: ["pdflatex", "xelatex", "lualatex", "latex", "tectonic"] },
  { name: "Graphviz", commands: ["dot"] },
  { name: "SQLite", written: ["sqlite3"], commands: ["sqlite3"] },
  { name: "tmux", commands: ["tmux"] },
];

const byName = new Map(
  knownPrograms.flatMap((program) =>
    [program.name.toLowerCase(), ...(program.written ?? [])].map((name) => [name, program] as const),
  ),
);
const byCommand = new Map(
  knownPrograms.flatMap((program) => program.commands.map((command) => [command, program] as const)),
);

/** The program that people call by this name; undefined if it is none that we know. */
export function knownProgram(name: string): ProgramDemand | undefined {
  const found = byName.get(name.toLowerCase());
  return found && { name: found.name, commands: found.commands };
}

/** The arguments that print the version of a command; undefined for one that must not be run. */
export function versionArguments(command: string): readonly string[] | undefined {
  return byCommand.get(command)?.version;
}

const commandName = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/;

/** Whether a text can be the name of a command. Nothing else is looked up on PATH. */
export function isCommandName(text: string): boolean {
  return commandName.test(text);
}
