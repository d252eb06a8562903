import { canBeHarmless } from "./harmless-commands.ts";
import { readPattern } from "./tool-patterns.ts";

const verbs = { Read: "read", Edit: "edit", Write: "write", NotebookEdit: "edit the notebooks" } as const;

/** What the entries of `allowed-tools` cover, each in words with what the skill wrote in quotes; nothing of those that cover nothing. */
export function toolsInWords(entries: readonly string[]): readonly string[] {
  return [...new Set(entries.flatMap(inWords))];
}

function inWords(entry: string): readonly string[] {
  const pattern = readPattern(entry);
  if (pattern === undefined) return [];
  switch (pattern.tool) {
    case "mcp":
      return [`use ${JSON.stringify(entry)}`];
    case "WebFetch":
      return [`fetch from ${JSON.stringify(`${pattern.isBelow ? "*." : ""}${pattern.host}`)}`];
    case "Bash": {
      const { words, more } = pattern;
      const isOpen = (more || words.includes(undefined)) && canBeHarmless(words);
      const command = JSON.stringify(words.map((word) => word ?? "*").join(" "));
      return [isOpen ? `run harmless ${command} commands` : `run ${command}`];
    }
    case "Read":
    case "Edit":
    case "Write":
    case "NotebookEdit":
      return [`${verbs[pattern.tool]} ${JSON.stringify(pattern.segments.join("/"))}`];
  }
}
