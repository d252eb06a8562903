import { type CommandForm, hasPrefix, withoutPrefix } from "./command.ts";

/** Codex names the commands of skills `$pdf` (zed-industries/codex-acp, pull request 284), others `skill:pdf` or `skills:pdf` (246). */
export const readNamedCommand: CommandForm = ({ name, description }) =>
  hasPrefix(name) ? { name: withoutPrefix(name), description, command: name, form: "named-command" } : undefined;
