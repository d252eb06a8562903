import type { SandboxRun } from "../../sandbox/sandbox.ts";
import { requirementsFile } from "../plan/dependencies.ts";

/** As Python and Node report a module that is not there. */
const noModule = /ModuleNotFoundError: No module named '([\w.]+)'|Error: Cannot find (?:module|package) '([^'\n]+)'/;
/** As libc, Python, Node, curl and git report a name that cannot be resolved, and a host that cannot be reached. */
const noNetwork =
  /Name or service not known|Temporary failure in name resolution|nodename nor servname|getaddrinfo|ENOTFOUND|EAI_AGAIN|Could not resolve host|Network is unreachable|ENETUNREACH/;

/** What usually fixes a failed run, by what it reported; undefined where nothing is usual. Pure. */
export function failureHint(
  reported: string,
  run: Pick<SandboxRun, "program" | "network" | "project">,
): string | undefined {
  const [, python, node] = noModule.exec(reported) ?? [];
  if (python !== undefined) return pythonModuleHint(python, run);
  if (node !== undefined)
    return "Packages of npm are not available; put the modules that a script needs into the skill.";
  if (run.network.length === 0 && noNetwork.test(reported)) return networkHint(run);
  return projectHint(reported, run);
}

function pythonModuleHint(module: string, { program }: Pick<SandboxRun, "program">): string {
  const [top = ""] = module.split(".");
  if (top === "skills") return "Only skills named in mount_skills, and those a skill depends on, can be imported.";
  return program.type === "code"
    ? "run_code has the Python standard library and the skills in mount_skills; other packages are not available."
    : `If \`${top}\` is a package, list it in ${requirementsFile} of ${program.skill}, then run: acp-skills install ${program.skill}`;
}

function networkHint({ program }: Pick<SandboxRun, "program">): string {
  if (program.type === "code") return "run_code has no network. Call a skill that has the network permission.";
  const { skill } = program;
  return (
    `This run has no network. Declare the hosts in skill.toml, [permissions] network = ["https://…"] ` +
    `(without a skill.toml: metadata acp-skills-network in SKILL.md), and allow them with --grant ${skill}:network.`
  );
}

/** As Python, shells and Node word it where the kernel refuses a path below `/project`. */
const refusedPath =
  /(?:\[Errno (?:1|13|18)\] [^\n]*|EACCES: [^\n]*|EXDEV: [^\n]*)'\/project\/|\/project\/[^\n]*: (?:Permission denied|Operation not permitted|Invalid cross-device link)/;

const readOnlyPaths =
  "Directly in /project a run cannot create, move or remove files, and .git, .agents, .github, other settings of git, agents, editors and CI, and the user's own skills are read-only. Write to an existing subdirectory or to /output.";

/** What to do where a run that may write to the project was refused a path of it; undefined where it was not. */
export function projectHint(told: string, { project }: Pick<SandboxRun, "project">): string | undefined {
  return project?.writable === true && refusedPath.test(told) ? readOnlyPaths : undefined;
}
