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

let byName: ReadonlyMap<string, KnownProgram> | undefined;

/** The program that people call by this name; undefined if it is none that we know. */
export function knownProgram(name: string): ProgramDemand | undefined {
  byName ??= new Map(
    knownPrograms.flatMap((program) =>
      [program.name.toLowerCase(), ...(program.written ?? [])].map((known) => [known, program] as const),
    ),
  );
  const found = byName.get(name.toLowerCase());
  return found && { name: found.name, commands: found.commands };
}

/** The arguments that print the version of a command; undefined for one that must not be run. */
export function versionArguments(command: string): readonly string[] | undefined {
  return knownPrograms.find(({ commands }) => commands.includes(command))?.version;
}

const commandName = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/;

/** Whether a text can be the name of a command. Nothing else is looked up on PATH. */
export function isCommandName(text: string): boolean {
  return commandName.test(text);
}

/*
 * Versions as programs print them and people require them. Not semver: `3.10` is no semantic version, and loading a library would delay the
 * first list of skills.
 */

const number = String.raw`\d{1,6}(?:\.\d{1,6}){0,3}`;
const single = new RegExp(String.raw`^(>=|≥|=>|>|<=|≤|<|===?|=|~=|\^|~)? ?v?(${number})(\+|\.x|\.\*)?$`);

/** Whether a found version is in a range. `newer`: a range that names one version, such as `3.10`, may also mean later ones. */
type Fit = "yes" | "no" | "newer";

/**
 * A range in canonical form: `>=3.10`, `<4`, `^18`, `~1.2`, or a version alone; several joined by commas. Reads `3.10+`, `≥ 18`, `v20.x`
 * and `==1.2`. Undefined if the text is anything else.
 */
export function readRange(text: string): string | undefined {
  if (text.length > 100) return undefined;
  const parts = text.split(",").map((part) => readSingle(part.replace(/\s+/g, " ").trim()));
  return parts.every((part) => part !== undefined) ? parts.join(",") : undefined;
}

function readSingle(text: string): string | undefined {
  const [, operator = "", version, suffix] = single.exec(text) ?? [];
  if (version === undefined) return undefined;
  if (suffix === "+") return operator === "" ? `>=${version}` : undefined;
  if (suffix !== undefined) return operator === "" || operator.startsWith("=") ? `=${version}` : undefined;
  switch (operator) {
    case "≥":
    case "=>":
      return `>=${version}`;
    case "≤":
      return `<=${version}`;
    case "==":
    case "===":
      return `=${version}`;
    case "~=":
      // At least this version, with all but the last number fixed.
      return version.includes(".") ? `>=${version},=${version.slice(0, version.lastIndexOf("."))}` : undefined;
    default:
      return `${operator}${version}`;
  }
}

/** Whether a version, such as `3.11.2`, is in a range of {@link readRange}. */
export function fitOf(version: string, range: string): Fit {
  const fits = range.split(",").map((part) => fitOfSingle(numbersOf(version), part));
  return fits.find((fit) => fit === "no") ?? fits.find((fit) => fit === "newer") ?? "yes";
}

function fitOfSingle(version: readonly number[], part: string): Fit {
  const [operator = ""] = /^[<>=^~]*/.exec(part) ?? [];
  const wanted = numbersOf(part.slice(operator.length));
  const order = compare(version, wanted);
  const isSame = wanted.every((value, index) => (version[index] ?? 0) === value);
  const is = (fits: boolean): Fit => (fits ? "yes" : "no");
  switch (operator) {
    case ">=":
      return is(order >= 0);
    case ">":
      // `>3.10` is not met by 3.10.4, as in Python's rules.
      return is(order > 0 && !isSame);
    case "<=":
      return is(order <= 0 || isSame);
    case "<":
      return is(order < 0);
    case "=":
      return is(isSame);
    case "~":
      return is(order >= 0 && wanted.slice(0, 2).every((value, index) => (version[index] ?? 0) === value));
    case "^": {
      // The first number that is not 0 must be the same.
      const fixed = wanted.findIndex((value) => value !== 0);
      const prefix = wanted.slice(0, fixed === -1 ? wanted.length : fixed + 1);
      return is(order >= 0 && prefix.every((value, index) => (version[index] ?? 0) === value));
    }
    default:
      return isSame ? "yes" : order > 0 ? "newer" : "no";
  }
}

function numbersOf(version: string): readonly number[] {
  return version.split(".").map(Number);
}

/** Missing numbers count as 0. */
function compare(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The first version in what a program printed; undefined if there is none. Java calls its version 8 `1.8.0`. */
export function findVersion(output: string): string | undefined {
  const text = output.slice(0, 2000);
  const java = /^(?:java|openjdk) (?:version )?"?(?:1\.)?(\d{1,6}(?:\.\d{1,6}){0,3})/m.exec(text)?.[1];
  return java ?? /(?<![\w.-])(?:v|n|go|jq-)?(\d{1,6}(?:\.\d{1,6}){1,3})/.exec(text)?.[1];
}
