/** A word of a shell command, without its quotes. */
export interface CommandWord {
  readonly value: string;
  /** The shell would replace it by names of files. */
  readonly isGlob: boolean;
}

const longestCommand = 4_096;
/** Characters that mean themselves in sh, bash and zsh, wherever they stand in a word. */
const plain = /^[A-Za-z0-9_\-./:=+,@%~]$/;
/** Control, format and unassigned characters, and all separators except the space. */
const unseen = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

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
    if (text[at] === "=") return undefined;
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

/** Options by which common programs start others, or write files. A prefix such as `git log` does not cover them. */
const starting: Readonly<Record<string, readonly string[]>> = {
  git: [
    ...["-c", "-C", "-x", "-O", "--config-env", "--exec-path", "--exec", "--extcmd", "--ext-diff", "--textconv"],
    ...["--upload-pack", "--receive-pack", "--open-files-in-pager", "--git-dir", "--work-tree", "--output"],
  ],
  find: ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"],
  tar: ["-I", "--use-compress-program", "--to-command", "--checkpoint-action", "--rsh-command"],
  rsync: ["-e", "--rsh", "--rsync-path"],
  sort: ["--compress-program", "-o", "--output"],
};

/**
 * Whether a word makes a common program start another one. Programs have more ways than these, such as configuration files: who allows a
 * program, allows what it can do.
 */
export function startsAnother(program: string, { value }: CommandWord): boolean {
  const name = program.slice(program.lastIndexOf("/") + 1);
  const options = Object.hasOwn(starting, name) ? (starting[name] ?? []) : [];
  const [given = ""] = value.split("=", 1);
  return options.some((option) => {
    // Long options can be shortened, short ones can be joined.
    if (option.startsWith("--")) return given.length > 2 && option.startsWith(given);
    return option.length > 2 ? value === option : /^-[^-]/.test(value) && value.includes(option.charAt(1));
  });
}
