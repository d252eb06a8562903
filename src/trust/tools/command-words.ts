import { unseenCharacters } from "../../base/unseen-characters.ts";

/** A word of a shell command, without its quotes. */
export interface CommandWord {
  readonly value: string;
  /** The shell would replace it by names of files. */
  readonly isGlob: boolean;
}

const longestCommand = 4_096;
/** Characters that mean themselves in sh, bash and zsh, wherever they stand in a word. */
const plain = /^[A-Za-z0-9_\-./:=+,@%~]$/;
/** All separators except the space, too. */
const unseen = new RegExp(`[${unseenCharacters}\\p{C}]|(?! )\\p{Zs}`, "u");

/**
 * The words of a command that runs exactly one program, with nothing around it: no operators, redirections, substitutions, escapes,
 * comments or assignments. Undefined for every other command, and in case of doubt. Linear time.
 */
export function readCommand(text: string): readonly CommandWord[] | undefined {
  if (text.length > longestCommand || unseen.test(text)) return undefined;
  const words: CommandWord[] = [];
  for (let at = skipSpaces(text, 0); at < text.length; at = skipSpaces(text, at)) {
    const word = readWord(text, at);
    if (word === undefined) return undefined;
    const isFirst = words.length === 0;
    // An assignment, or a program whose name is hidden by quotes or wildcards; zsh replaces `=name`.
    if (isFirst && (word.isQuoted || word.isGlob || word.value.includes("="))) return undefined;
    if (word.value.startsWith("=")) return undefined;
    words.push({ value: word.value, isGlob: word.isGlob });
    at = word.end;
  }
  return words.length === 0 ? undefined : words;
}

interface ReadWord extends CommandWord {
  readonly isQuoted: boolean;
  readonly end: number;
}

function readWord(text: string, start: number): ReadWord | undefined {
  let value = "";
  let isQuoted = false;
  let isGlob = false;
  let at = start;
  while (at < text.length && text[at] !== " ") {
    const character = text.charAt(at);
    if (character === "'" || character === '"') {
      const end = text.indexOf(character, at + 1);
      const quoted = text.slice(at + 1, end);
      if (end === -1 || (character === '"' && /[$`\\!]/.test(quoted))) return undefined;
      value += quoted;
      isQuoted = true;
      at = end + 1;
    } else {
      if (character === "*" || character === "?") isGlob = true;
      else if (!plain.test(character)) return undefined;
      value += character;
      at++;
    }
  }
  return { value, isQuoted, isGlob, end: at };
}

function skipSpaces(text: string, start: number): number {
  let at = start;
  while (text[at] === " ") at++;
  return at;
}
