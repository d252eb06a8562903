import { isUtf8 } from "node:buffer";
import path from "node:path";
import { mkdir, writeFile } from "node:fs/promises";
import { type Clock, systemClock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { exceeds, watchSize } from "../../base/paths/directories.ts";
import { removeTree } from "./directory/private-directory.ts";
import { type InstallerName, explainFailure, runInstaller, toInstallCommand } from "./requirements/installer.ts";
import {
  type PackageQuery,
  findRequirements,
  makeStaging,
  moveIntoCache,
  notReady,
  noteRequirements,
  readPythonBuild,
  readWheelSource,
  toRequirementsKey,
} from "./requirements/package-cache.ts";

export { digestOfPackages, findPackagesOf } from "./requirements/package-cache.ts";

export interface RequirementsOptions extends PackageQuery {
  readonly log: Log;
  /** `uv` if it is installed, otherwise `pip`. */
  readonly tool?: InstallerName;
  /** Install only from this directory of wheels. */
  readonly wheels?: string;
  /** The directory of the skill to install for: its runs use these packages from now on. */
  readonly skill?: string;
  /** Maximum size of the unpacked packages and the installer's temporary files. Default: 512 MiB. */
  readonly maxBytes?: number;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

const defaultMaxBytes = 512 * 1024 * 1024;

/** Installed packages, to be mounted as `SandboxRun.packages`. */
export interface InstalledRequirements {
  readonly directory: string;
  readonly key: string;
}

/**
 * Installs a skill's requirements if they are not installed yet. Atomic, even if other processes install the same ones or this process is
 * killed. Throws SKILL_NOT_READY if they cannot be installed, and the reason of `signal` when that aborts.
 */
export async function installRequirements(options: RequirementsOptions): Promise<InstalledRequirements> {
  const { requirements, python, cache, wheels, skill, signal } = options;
  signal?.throwIfAborted();
  const { requirements: lines, faults } = parseRequirements(requirements);
  if (faults.length > 0) {
    const shown = faults.slice(0, 5).map(({ line, why }) => `line ${line}: ${why}`);
    throw notReady(`requirements.txt is invalid: ${shown.join("; ")}.`, { faults });
  }
  const build = await readPythonBuild(python);
  const key = toRequirementsKey(requirements, build, wheels === undefined ? "index" : await readWheelSource(wheels));
  const directory = (await findRequirements(cache, key)) ?? (await installAnew(lines, key, options));
  if (skill !== undefined) await noteRequirements(skill, options, build, key);
  return { directory, key };
}

async function installAnew(lines: readonly string[], key: string, options: RequirementsOptions): Promise<string> {
  const { cache } = options;
  const staging = await makeStaging(cache);
  try {
    const target = path.join(staging, "packages");
    await mkdir(target);
    if (lines.length > 0) await install(lines, { ...options, staging, target });
    return await moveIntoCache(target, cache, key);
  } finally {
    await removeTree(staging);
  }
}

async function install(
  lines: readonly string[],
  options: RequirementsOptions & { readonly staging: string; readonly target: string },
): Promise<void> {
  const { staging, target, python, wheels, tool, log, clock = systemClock, maxBytes = defaultMaxBytes } = options;
  const requirementsFile = path.join(staging, "requirements.txt");
  await writeFile(requirementsFile, `${lines.join("\n")}\n`);
  const { signal = never } = options;
  const plan = { python, requirementsFile, target, scratch: staging, wheels, signal };
  const command = await toInstallCommand(plan, tool);
  signal.throwIfAborted();
  if (command === undefined) {
    throw notReady(
      "Installing requirements needs uv 0.11.15 or later, or pip, and neither was found. Install uv, python3-venv or python3-pip.",
    );
  }
  log("info", `Installing ${lines.length} requirements with ${path.basename(command.file)}.`);
  // Wheels are compressed: the installer is killed when it has written too much.
  const tooLarge = new AbortController();
  const stop = watchSize(staging, { maxBytes }, clock, () => tooLarge.abort());
  const { succeeded, output } = await runInstaller(command, staging, AbortSignal.any([signal, tooLarge.signal]));
  stop();
  signal.throwIfAborted();
  if (tooLarge.signal.aborted || (await exceeds(staging, { maxBytes }))) {
    const shown = `${Math.floor(maxBytes / 1024 / 1024)} MiB`;
    throw notReady(`The unpacked packages exceed ${shown}; nothing was installed.`);
  }
  if (!succeeded)
    throw notReady(`Installing the requirements failed: ${explainFailure(output)}`, { requirements: lines });
}

const never = new AbortController().signal;

/** A line that is not allowed. */
interface RequirementFault {
  /** The number of the line, from 1. */
  readonly line: number;
  readonly why: string;
}

export interface ParsedRequirements {
  /** One requirement each, without comments. */
  readonly requirements: readonly string[];
  readonly faults: readonly RequirementFault[];
}

const greatestFile = 64 * 1024;
/** In characters, including continuation lines: some packages have dozens of hashes. */
const maxLineLength = 16 * 1024;
/** Characters of a requirement: regular expressions are applied to no more. */
const maxRequirementLength = 1024;

const extras = String.raw`\[ *[A-Za-z0-9._-]+(?: *, *[A-Za-z0-9._-]+)* *\]`;
const version = String.raw`(?:===|==|~=|!=|<=|>=|<|>) *[A-Za-z0-9][A-Za-z0-9._*+!-]*`;
const versions = String.raw`${version}(?: *, *${version})*`;
const marker = String.raw`[A-Za-z0-9_.<>=!~()'" ,*+-]+`;
const requirement = new RegExp(
  String.raw`^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])? *(?:${extras})? *(?:${versions}|\( *${versions} *\))?(?: *; *${marker})?$`,
);
const hash = /^--hash=sha(?:256|384|512):[0-9a-f]{64,128}$/;

/**
 * Parses an untrusted `requirements.txt`. Only names with versions, markers and hashes are allowed (PEP 508). Options (`--index-url`,
 * `--no-binary`, `-r`), URLs, paths and environment variables could make an installer fetch from elsewhere, read local files or execute a
 * package's code. The installer gets a new file with the parsed requirements only.
 */
export function parseRequirements(bytes: Uint8Array): ParsedRequirements {
  if (bytes.length > greatestFile || !isUtf8(bytes))
    return { requirements: [], faults: [{ line: 1, why: "the file is not UTF-8 text, or exceeds 64 KiB" }] };
  const text = Buffer.from(bytes)
    .toString()
    .replace(/^\uFEFF/, "");
  const requirements: string[] = [];
  const faults: RequirementFault[] = [];
  for (const { line, content } of joinLines(text)) {
    const read = parseLine(content);
    if ("why" in read) faults.push({ line, why: read.why });
    else if (read.requirement !== "") requirements.push(read.requirement);
  }
  return { requirements, faults };
}

const notAllowed =
  "only a name with optional versions is allowed, such as requests>=2.31: no options, URLs, paths and environment variables";

/** Joins continued lines. A backslash at the end continues a line, except in a comment. */
function* joinLines(text: string): Generator<{ line: number; content: string }> {
  let joined = "";
  let first = 1;
  for (const [index, raw] of text.split(/\r\n|\r|\n/).entries()) {
    if (joined === "") first = index + 1;
    const plain = raw.replace(/(^|\s)#.*$/, "");
    const continues = plain === raw && raw.endsWith("\\");
    joined += continues ? `${raw.slice(0, -1)} ` : plain;
    if (continues) continue;
    yield { line: first, content: joined };
    joined = "";
  }
  if (joined !== "") yield { line: first, content: joined };
}

function parseLine(content: string): { readonly requirement: string } | { readonly why: string } {
  if (content.length > maxLineLength) return { why: "the line is too long" };
  // Collapsing whitespace prevents backtracking.
  const words = content.replaceAll(/[ \t]+/g, " ").trim();
  if (words === "") return { requirement: "" };
  const [plain = "", ...options] = words.split(/ (?=-)/);
  if (plain.length > maxRequirementLength) return { why: "the requirement is too long" };
  if (!options.every((option) => hash.test(option.trim())))
    return { why: "only --hash=sha256:… may follow a requirement" };
  if (!requirement.test(plain)) return { why: notAllowed };
  return { requirement: [plain, ...options.map((option) => option.trim())].join(" ") };
}
