import fc from "fast-check";
import { expect, test } from "vitest";
import { findDynamicCommands } from "../../../src/skills/manifest/dynamic-commands.ts";

test.each([
  ["!`date`", ["date"]],
  ["a\n!`date` b !`ls -l`", ["date", "ls -l"]],
  ["key=!`date`", []],
  ["write `!` and `?`", []],
  ["! `date`", []],
  ["!``", []],
  ["!`date", []],
  ["```!\ndate\nls\n```", ["date\nls"]],
  ["```! date ```", ["date"]],
  ["```!\ndate", []],
  ["```!\n\n```", []],
  ["```sh\n!`date`\n```", ["date"]],
])("in %j", (text, commands) => {
  expect(findDynamicCommands(text).map(({ command }) => command)).toEqual(commands);
});

test("each command stands in the text where it is said to, whatever is around it", () => {
  const text = fc.string({ unit: fc.constantFrom("!", "`", "```", "```!", "a", " ", "\n"), maxLength: 60 });
  fc.assert(
    fc.property(text, (given) => {
      const found = findDynamicCommands(given);
      for (const { command, offset, end } of found) {
        expect(given.slice(offset, end)).toContain(command);
        expect(given.slice(offset, end)).toMatch(/^!`[^`]+`$|^```!/);
      }
      // As agents find them.
      const inline = given.match(/(?<=^|\s)!`([^`]+)`/g) ?? [];
      expect(found.filter(({ offset }) => given[offset] === "!").length).toBe(inline.length);
    }),
  );
});

test.each(["```!", "!`", " !`a", "```! a ``` "])("a long text of %j is read in linear time", (part) => {
  const steps = (count: number): number => {
    const text = part.repeat(count);
    let searched = 0;
    const counting = Object.assign(Object.create(String.prototype) as string, {
      indexOf(this: unknown, what: string, from = 0) {
        const at = text.indexOf(what, from);
        searched += (at < 0 ? text.length : at) - from + 1;
        return at;
      },
      slice: (start: number, end: number) => text.slice(start, end),
      charAt: (at: number) => text.charAt(at),
    });
    findDynamicCommands(counting);
    return searched;
  };
  expect(steps(4_000)).toBeLessThan(4.5 * steps(1_000));
});
