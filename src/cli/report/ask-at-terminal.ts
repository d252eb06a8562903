import { quoted } from "../../base/text/quoted.ts";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Ask, Question } from "../../runtime/question.ts";
import type { ChangedFile } from "../../skills/copied-files.ts";
import type { Progress } from "./progress.ts";
import { safeText } from "./safe-text.ts";

/** Further files are only counted. */
const mostFiles = 20;

/**
 * Asks the person at a terminal. Empty input and the end of input refuse for now; anything else that is no choice is asked again. Progress
 * ends first, so that its line does not overwrite the prompt.
 */
export function askAtTerminal(input: Readable, output: Writable, progress: Pick<Progress, "done">): Ask {
  return async (question, signal, shown) => {
    progress.done();
    const lines = createInterface({ input, terminal: false, signal });
    output.write(`${inText(question)}${promptOf(question)}`);
    shown?.();
    try {
      for await (const line of lines) {
        if (line.trim() === "") return { answer: "not-now" };
        const option = question.options[Number(line) - 1];
        if (option !== undefined) return { answer: option.answer };
        output.write(promptOf(question));
      }
      // Nothing ended the line of the prompt.
      output.write("\n");
      signal.throwIfAborted();
      return { missing: "cancelled" };
    } finally {
      lines.close();
    }
  };
}

function promptOf({ options }: Question): string {
  const usual = options.findIndex(({ answer }) => answer === "not-now") + 1;
  return `choose 1 to ${options.length} [${usual}]: `;
}

function inText({ title, wants, widened, expects, changed, options }: Question): string {
  const unseen = wants.filter((words) => !widened.includes(words));
  const lines = [
    `acp-skills: ${safeText(title)}`,
    ...unseen.map((words) => `  it ${safeText(words)}`),
    ...widened.map((words) => `  new: ${safeText(words)}`),
    ...(expects === undefined ? [] : [`  ${safeText(expects)}`]),
    ...changed
      .slice(0, mostFiles)
      .map((file) => `  ${wordOf(file)}: ${safeText(quoted(file.path, { longest: 1_024 }))}`),
    ...(changed.length > mostFiles ? [`  and ${changed.length - mostFiles} more files`] : []),
    ...options.map(({ label }, index) => `  ${index + 1}  ${safeText(label)}`),
  ];
  return `${lines.join("\n")}\n`;
}

function wordOf({ before, after }: ChangedFile): string {
  if (before === undefined && after !== undefined) return "new or changed file";
  return after === undefined ? "removed or changed file" : "changed file";
}
