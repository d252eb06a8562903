import { type SkillsErrorCode, isSkillsError } from "../base/errors.ts";

/** The exit codes of commands; the README has the same table. `wrap` ends as its agent does, also by a signal. */
export const exit = {
  done: 0,
  /** The work was done, but found problems, differences, a failed run, or nothing. */
  found: 1,
  /** An option or argument, or what it names, cannot be used. */
  usage: 2,
  /** The work could not be done: no such skill, network, disk, no sandbox, refused. */
  unable: 3,
  notExecutable: 126,
  notFound: 127,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exit)[keyof typeof exit];

const usageCodes: readonly SkillsErrorCode[] = ["INVALID_OPTIONS", "METHOD_NOT_FOUND", "VALIDATION_ERROR"];

/** The exit code of a command that throws this error. */
export function exitFor(error: unknown): ExitCode {
  return usageCodes.some((code) => isSkillsError(error, code)) ? exit.usage : exit.unable;
}
