import type { Fault, YamlFailure } from "./yaml.ts";
import type { YamlBlock } from "./yaml-blocks.ts";

/** A parser's failure in the words of the one who has to mend it. `base` is where the text it was given starts. */
export function toFault({ reason, cause, offset: inner }: YamlFailure, base: number): Fault {
  const offset = base + Math.max(inner, 0);
  if (cause === "aliases") {
    return {
      code: "yaml-alias-bomb",
      offset,
      message: reason.startsWith("aliases exceeded")
        ? "the frontmatter has more YAML aliases than a reader should follow"
        : "a YAML alias leads back to a value that it stands in",
      fix: "Write the values out instead of using aliases.",
    };
  }
  if (reason.includes("tag ") || /^unknown .*tag/.test(reason)) {
    return {
      code: "yaml-tag",
      offset,
      message: `a YAML tag is refused (${reason})`,
      fix: "Remove the tag, or put the value in quotes.",
    };
  }
  if (reason.includes("duplicated")) {
    return {
      code: "yaml-duplicate-key",
      offset,
      message: "a key appears twice; the first one counts",
      fix: "Remove one of the two.",
    };
  }
  if (reason.includes("tab characters")) return tabFault(offset);
  return {
    code: "yaml-syntax",
    offset,
    message: `not valid YAML: ${reason}`,
    fix: "Put the value in single quotes, or check its indentation.",
  };
}

export function tabFault(offset: number): Fault {
  return {
    code: "yaml-syntax",
    offset,
    message: "a tab stands where only blanks may indent",
    fix: "Indent with blanks.",
  };
}

/** At the backslash, in a text that is taken as it stands. */
export function escapeFault(offset: number): Fault {
  return {
    code: "yaml-syntax",
    offset,
    message: "YAML knows no such escape; the backslash is taken as it is",
    fix: "Write two backslashes, or put the value in single quotes.",
  };
}

export function repeatedKey(key: string, { start }: YamlBlock): Fault {
  return {
    code: "yaml-duplicate-key",
    offset: start,
    message: `the key ${key} appears again; the first one counts`,
    fix: `Remove one of the two ${key} keys.`,
  };
}

export function indentedKey(key: string, { start, indent }: YamlBlock): Fault {
  return {
    code: "yaml-syntax",
    offset: start + indent,
    message: `the key ${key} is indented, as if it went on from the line above`,
    fix: `Remove the blanks before ${key}.`,
  };
}

/** At a line of a value in quotes. */
export function unindentedText(key: string, offset: number): Fault {
  return {
    code: "yaml-syntax",
    offset,
    message: `the value of ${key} goes on at the start of a line`,
    fix: "Indent each line that goes on by two blanks.",
  };
}

/** A value that is not plain, after as much of the text as is sensible has been parsed. */
export function unreadKey(key: string, { start }: YamlBlock): Fault {
  return {
    code: "yaml-syntax",
    offset: start,
    message: `the value of ${key} is left out: too much of the frontmatter is more than plain text`,
    fix: "Write values as plain or quoted strings, and long text below the frontmatter.",
  };
}

export function tooManyKeys(most: number, { start }: YamlBlock): Fault {
  return {
    code: "yaml-syntax",
    offset: start,
    message: `the frontmatter has more than ${most} keys; what follows is left out`,
    fix: "Move what is not a field of the specification below the frontmatter.",
  };
}

export function strayLine(text: string, { start }: YamlBlock): Fault {
  return {
    code: "yaml-syntax",
    offset: start,
    message:
      text[start] === "\t"
        ? "a tab stands where only blanks may indent"
        : "the line is neither of the form key: value nor indented below a key",
    fix: "Indent it with blanks if it goes on from the line above, or give it a key.",
  };
}
