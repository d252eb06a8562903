const greatest = 1000;
const fault = /^(?:ERROR|error): *|^ *× *|^ *╰─▶ */;

/** Extracts the errors from an installer's output, or its last lines; one line, without control characters. */
export function explainFailure(output: string): string {
  // Package names are untrusted: no escape sequences for the terminal.
  const plain = output.replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, "").replaceAll(/[^\P{C}\n]/gu, "");
  const lines = plain.split("\n").filter((line) => line.trim() !== "");
  const told = lines.filter((line) => fault.test(line)).map((line) => line.replace(fault, "").trim());
  const sentences = [...new Set(told.length > 0 ? told : lines.slice(-3).map((line) => line.trim()))];
  const text = sentences.join(" ").slice(0, greatest);
  return `${text.replace(/(?<![.!?])$/, ".")} Only wheels are installed; nothing is built from source.`;
}
