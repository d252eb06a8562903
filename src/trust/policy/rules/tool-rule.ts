import { globsOverlap, matchesGlob } from "./name-glob.ts";

/** `Read`, `mcp__github__*`, `Bash(git:*)`. */
interface ToolPattern {
  readonly tool: string;
  /** What stands in the brackets; undefined for every use of the tool. */
  readonly use: string | undefined;
}

const form = /^([\w*.:/-]+)(?:\((.*)\))?$/s;
/** Tools whose uses are command lines; those of other tools, such as paths, can be spelled in too many ways to compare. */
const shells = /^(?:bash|shell|sh|run_shell_command|run_in_terminal|terminal)$/i;

export function isToolRule(entry: string): boolean {
  return form.test(entry);
}

/** Whether a policy's entry allows every use that another entry, or one that a skill lists, stands for. */
export function toolsContain(rule: string, asked: string): boolean {
  const [all, some] = [parsePattern(rule), parsePattern(asked)];
  if (all === undefined || some === undefined || !matchesGlob(all.tool, some.tool)) return false;
  if (all.use === undefined || all.use === some.use) return true;
  if (some.use === undefined || !shells.test(all.tool)) return false;
  const prefix = prefixOf(all.use);
  return prefix !== undefined && startsWithWords(some.use, prefix) && !/[;&|<>`$(\n]/.test(some.use);
}

/** Whether a policy's entry denies any use of what a skill lists: true if in doubt. */
export function toolsOverlap(rule: string, asked: string): boolean {
  const [a, b] = [parsePattern(rule.toLowerCase()), parsePattern(asked.toLowerCase())];
  if (a === undefined || b === undefined) return true;
  if (!globsOverlap(a.tool, b.tool)) return false;
  if (a.use === undefined || b.use === undefined || !shells.test(a.tool)) return true;
  const [startA, startB] = [literalStart(a.use), literalStart(b.use)];
  return startA.startsWith(startB) || startB.startsWith(startA);
}

function parsePattern(text: string): ToolPattern | undefined {
  const [, tool, use] = form.exec(text.trim()) ?? [];
  if (tool === undefined) return undefined;
  const trimmed = use?.trim().replace(/\s+/g, " ");
  return { tool, use: trimmed === "*" || trimmed === ":*" || trimmed === "" ? undefined : trimmed };
}

/** The words of `git add:*` and `git add *`; undefined if the pattern has another form. */
function prefixOf(use: string): string | undefined {
  return /^([^*?[\]]+)(?::\*| \*)$/.exec(use)?.[1]?.trim();
}

function startsWithWords(use: string, prefix: string): boolean {
  return use.startsWith(prefix) && /^(?:$| |:\*$)/.test(use.slice(prefix.length));
}

/** What every command that a pattern stands for starts with. */
function literalStart(use: string): string {
  return use
    .replace(/:\*$/, "")
    .replace(/[*?[].*$/s, "")
    .trim();
}
