import { commands } from "../../commands.ts";
import { nearest } from "../../../base/nearest.ts";

/** What to do about a word that stands where only options and `--` may; undefined where the first word is no such thing. */
export function explainStray(argv: readonly string[]): string | undefined {
  const names = Object.keys(commands).filter((name) => name !== "wrap");
  const [first = ""] = argv;
  if (first.startsWith("-")) {
    const late = argv.find((word) => names.includes(word));
    return late === undefined ? undefined : `the command comes first; write: acp-skills ${late} …`;
  }
  const [close] = nearest(first, names);
  const guess = close === undefined ? "" : `; did you mean ${close}?`;
  return `unknown command ${first}${guess || `; to run an agent, write: acp-skills -- ${argv.join(" ")}`}`;
}
