import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { confirm } from "../../../../src/cli/commands/sources/install/source-options.ts";
import { askAtTerminal, type Terminal } from "../../../../src/cli/report/terminal.ts";

async function answered(
  line: string | undefined,
  yes = false,
): Promise<{ readonly isWanted: boolean; readonly shown: string }> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let shown = "";
  output.on("data", (text: Buffer) => (shown += text.toString()));
  const ask = line === undefined ? undefined : askAtTerminal(input, output, { done: () => undefined });
  if (line !== undefined) input.end(`${line}\n`);
  const terminal = { ask, note: (text: string) => void (shown += text) } as unknown as Terminal;
  const isWanted = await confirm("Install 1 skill\u001b[2J?", "Install", {
    yes,
    terminal,
    signal: new AbortController().signal,
  });
  return { isWanted, shown };
}

test("at a terminal only the choice itself installs; an empty line and others do not", async () => {
  expect((await answered("1")).isWanted).toBe(true);
  for (const line of ["", "2", "y", "3"]) expect((await answered(line)).isWanted).toBe(false);
  const { shown } = await answered("2");
  expect(shown).toBe("acp-skills: Install 1 skill\\u{1b}[2J?\n  1  Install\n  2  Change nothing\nchoose 1 to 2 [2]: ");
});

test("where nobody can be asked, only --yes does", async () => {
  expect(await answered(undefined)).toEqual({ isWanted: false, shown: expect.stringContaining("add --yes") as string });
  expect(await answered(undefined, true)).toEqual({ isWanted: true, shown: "" });
});
