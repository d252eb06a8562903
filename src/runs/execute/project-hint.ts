import type { SandboxRun } from "../../sandbox/sandbox.ts";

/** As Python, shells and Node word it where the kernel refuses a path below `/project`. */
const refused =
  /(?:\[Errno (?:1|13|18)\] [^\n]*|EACCES: [^\n]*|EXDEV: [^\n]*)'\/project\/|\/project\/[^\n]*: (?:Permission denied|Operation not permitted|Invalid cross-device link)/;

const hint =
  "At the top of /project a run makes, moves and removes no names, and what git, agents, editors and CI obey (.git, .agents, .github, …) and skills of the person's own stay as they are: write below a directory that exists, or to /output.";

/** What to do where a run that may write the project was refused a path of it; undefined where it was not. */
export function projectHint(told: string, { project }: Pick<SandboxRun, "project">): string | undefined {
  return project?.writable === true && refused.test(told) ? hint : undefined;
}
