const usual = ["--version"];
const others: Readonly<Record<string, readonly string[]>> = { go: ["version"], ffmpeg: ["-version"] };
const knownPrograms = new Set(
  "bash bun cargo cmake deno docker ffmpeg gh git go java jq node pandoc perl php py python python3 ruby rustc uv".split(
    " ",
  ),
);

/** The arguments that print the version of a command, change nothing and use no network; undefined for one that must not be run. */
export function versionArguments(command: string): readonly string[] | undefined {
  return knownPrograms.has(command) ? (others[command] ?? usual) : undefined;
}

const commandName = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/;

/** Whether a text can be the name of a command. Nothing else is looked up on PATH. */
export function isCommandName(text: string): boolean {
  return commandName.test(text);
}

/*
 * Versions as programs print them and people require them: fewer numbers than semantic versions have, or more.
 */

const number = String.raw`(?:0|[1-9]\d{0,5})(?:\.(?:0|[1-9]\d{0,5})){0,3}`;
const single = new RegExp(String.raw`^(>=|≥|=>|>|<=|≤|<|===?|=|~=|\^|~)? ?v?(${number})(\+|\.x|\.\*)?$`);

/** Other spellings. */
const operators: Readonly<Record<string, string>> = { "≥": ">=", "=>": ">=", "≤": "<=", "==": "=", "===": "=" };
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
  if (operator !== "~=") return `${operators[operator] ?? operator}${version}`;
  // At least this version, with all but the last number fixed.
  return version.includes(".") ? `>=${version},=${version.slice(0, version.lastIndexOf("."))}` : undefined;
}

/** Whether a version, such as `3.11.2`, is in a range of {@link readRange}. The first three numbers count. */
export async function fitOf(version: string, range: string): Promise<Fit> {
  // Loaded here: what skills require is read before anything is looked up.
  const [{ default: satisfies }, { default: gtr }] = await Promise.all([
    import("semver/functions/satisfies.js"),
    import("semver/ranges/gtr.js"),
  ]);
  const found = `${version}.0.0`.split(".", 3).map(Number).join(".");
  const wanted = range.replaceAll(/(\d+\.\d+\.\d+)\.\d+/g, "$1").replaceAll(",", " ");
  if (satisfies(found, wanted)) return "yes";
  return /^\d/.test(range) && gtr(found, wanted) ? "newer" : "no";
}

/** The first version in what a program printed; undefined if there is none. Java calls its version 8 `1.8.0`. */
export function findVersion(output: string): string | undefined {
  const text = output.slice(0, 2000);
  const java = /^(?:java|openjdk) (?:version )?"?(?:1\.)?(\d{1,6}(?:\.\d{1,6}){0,3})/m.exec(text)?.[1];
  return java ?? /(?<![\w.-])(?:v|n|go|jq-)?(\d{1,6}(?:\.\d{1,6}){1,3})/.exec(text)?.[1];
}
