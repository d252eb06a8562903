const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

type Style = keyof typeof codes;

/** Colours a text, or returns it unchanged if colours are off. */
export type Paint = (style: Style, text: string) => string;

export const plainPaint: Paint = (_style, text) => text;

export const colourPaint: Paint = (style, text) => {
  const [on, off] = codes[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
};

/** FORCE_COLOR has priority (`0` and `false` mean no), then NO_COLOR, then whether it is a terminal that supports colours. */
export function wantsColour(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if (env["NO_COLOR"]) return false;
  return isTerminal && env["TERM"] !== "dumb";
}
