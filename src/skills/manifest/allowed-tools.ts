/**
 * The entries of `allowed-tools` (C-1.3): a string split at whitespace and commas outside parentheses, or a list of entries taken
 * unchanged. Undefined for any other value.
 */
export function readAllowedTools(value: unknown): string[] | undefined {
  if (typeof value === "string") return splitTools(value);
  if (!Array.isArray(value) || !value.every((item): item is string => typeof item === "string")) return undefined;
  return value.map((item) => item.trim()).filter((item) => item !== "");
}

function splitTools(text: string): string[] {
  if (!text.includes("(")) return text.split(/[\s,]+/).filter((tool) => tool !== "");
  const tools: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index <= text.length; index++) {
    const character = text[index];
    if (character === "(") depth++;
    else if (character === ")" && depth > 0) depth--;
    const ends = character === undefined || (depth === 0 && (character === " " || /[\s,]/.test(character)));
    if (!ends) continue;
    const tool = text.slice(start, index).trim();
    if (tool !== "") tools.push(tool);
    start = index + 1;
  }
  return tools;
}
