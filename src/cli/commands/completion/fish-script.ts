import { type CompletedCommand, type CompletedOption, type Values, listNamesCommandLine } from "./table.ts";

export function fishScript(commands: readonly CompletedCommand[]): string {
  const all = commands.map(({ name }) => name).join(" ");
  return `# fish completion for acp-skills
complete -c acp-skills -f
${commands.map(({ name, summary }) => `complete -c acp-skills -n "not __fish_seen_subcommand_from ${all}" -a ${name} -d ${word(summary)}`).join("\n")}
${commands.flatMap(fishCommand).join("\n")}
`;
}

function fishCommand({ name, options, positionals }: CompletedCommand): string[] {
  const start = `complete -c acp-skills -n "__fish_seen_subcommand_from ${name}"`;
  const words = fishValues(positionals);
  return [...(words === "" ? [] : [`${start} ${words}`]), ...options.map((option) => `${start} ${fishOption(option)}`)];
}

function fishOption({ long, short, help, values }: CompletedOption): string {
  const flag = short === undefined ? `-l ${long}` : `-s ${short} -l ${long}`;
  const value = values === undefined ? "" : ` -r ${fishValues(values)}`.trimEnd();
  return `${flag}${value} -d ${word(help)}`;
}

function fishValues(values: Values): string {
  if (values === "files") return "-F";
  if (values === "none") return "";
  return `-a ${values === "skills" ? `"(${listNamesCommandLine})"` : word(values.join(" "))}`;
}

/** In single quotes, in which fish knows escapes of the quote and of the backslash. */
function word(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
