import fc from "fast-check";
import { parse } from "smol-toml";
import { expect, test } from "vitest";
import { createTomlPositions } from "../../../src/skills/manifest/toml-positions.ts";

const toml = [
  'name = "a" # x = 1',
  "",
  "[inputs.sheet]",
  'type = "blob"',
  "",
  "[inputs]",
  'row = { type = "integer", required = true }',
  'text = """',
  'type = "no"',
  '"""',
  "[permissions]",
  '  network = ["😀"]',
].join("\r\n");

test.each([
  [["name"], 1, 8],
  [["version"], 1, 1],
  [["inputs", "sheet", "type"], 4, 8],
  [["inputs", "sheet", "missing"], 3, 1],
  [["inputs", "row", "required"], 7, 38],
  [["permissions", "network", 0], 12, 14],
  [["type"], 1, 1],
])("in TOML the value at %j is at line %d, column %d", (path, line, column) => {
  expect(createTomlPositions(toml)(path)).toMatchObject({ line, column });
});

test.each([
  [`description = "use ''' here"\nfoo = 1\n`, ["foo"], 2, 7],
  ["# \"\"\" '''\nfoo = 1\n", ["foo"], 2, 7],
  [`a = 'b"""'\nfoo = 1\n`, ["foo"], 2, 7],
  ['a = "\\"""" # "\nfoo = 1\n'.replace('""""', '""'), ["foo"], 2, 7],
  ["a = '''\nfoo = 2\n'''''\nfoo = 1\n", ["foo"], 4, 7],
  ['network = [ # ]\n  "a",\n  # "b",\n\n  "b",\n]\n', ["network", 1], 5, 3],
  ['runtime = { export = "entrypoint", entrypoint = "../x.py" }\n', ["runtime", "entrypoint"], 1, 49],
  ['a = [{ b = 1 }, { "b" = 2 }]\n', ["a", 1, "b"], 1, 25],
  ["[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 3\n", ["a", 1, "b"], 4, 5],
  ["[[a]]\n[[a]]\n[a.c]\nd = 3\n", ["a", 1, "c", "d"], 4, 5],
  ["a.b.c = 1\n", ["a", "b"], 1, 1],
  ["a . 'b.c' = 1\n", ["a", "b.c"], 1, 13],
  ["a = 1979-05-27 07:32:00\nb = +inf\n", ["b"], 2, 5],
  ["a = [\n 1,\n]\n[b] # [c]\nd = 1\n", ["b", "d"], 5, 5],
])("in %j the value at %j is at line %d, column %d", (text, path, line, column) => {
  expect(createTomlPositions(text)(path)).toMatchObject({ line, column });
});

test("finds the position of every value in valid TOML", () => {
  const scalar = fc.oneof(
    fc.string().map((text) => JSON.stringify(text).replaceAll("\u007f", "")),
    fc.constantFrom("1", "true", "''", "'''\n'\n'''", '"""x"""""'),
  );
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      scalar,
      fc.array(tie("value"), { maxLength: 3 }).map((items) => `[ # ]\n${items.join(",\n")}]`),
      fc
        .uniqueArray(fc.constantFrom("a", "b", "'c.d'", '"e"'), { maxLength: 3 })
        .chain((keys) =>
          fc
            .tuple(...keys.map(() => tie("value")))
            .map((values) => `{ ${keys.map((key, index) => `${key} = ${values[index] ?? ""}`).join(", ")} }`),
        ),
    ),
  }));
  const text = fc
    .array(value, { maxLength: 5 })
    .map((values) => values.map((item, index) => `[t${index}]\nk = ${item}\n`).join(""));
  let found = 0;
  fc.assert(
    fc.property(text, (source) => {
      const lines = source.split("\n");
      const positionOf = createTomlPositions(source);
      const check = (data: unknown, path: readonly (string | number)[]): void => {
        const { line, column } = positionOf(path);
        const rest = Array.from(lines[line - 1] ?? "")
          .slice(column - 1)
          .join("");
        found++;
        if (Array.isArray(data)) {
          expect(rest.startsWith("[")).toBe(true);
          data.forEach((item, index) => check(item, [...path, index]));
        } else if (typeof data === "object" && data !== null) {
          expect(rest).toMatch(path.length === 1 ? /^\[t/ : /^\{/);
          for (const [key, inner] of Object.entries(data)) check(inner, [...path, key]);
        } else expect(rest.startsWith(typeof data === "string" ? rest.charAt(0) : String(data))).toBe(true);
        if (typeof data === "string") expect(rest).toMatch(/^["']/);
      };
      let data: Record<string, unknown>;
      try {
        data = parse(source);
      } catch {
        return;
      }
      for (const [key, inner] of Object.entries(data)) check(inner, [key]);
    }),
  );
  expect(found).toBeGreaterThan(300);
});

test("returns the ranges of values and keys", () => {
  const text = '[inputs.sheet] # why\nmy.type = "blob" # x\n';
  const positionOf = createTomlPositions(text);
  const shown = (path: string[], part?: "key" | "value"): string => {
    const { line, column, endLine, endColumn } = positionOf(path, part);
    return `${line}:${column}-${endLine}:${endColumn}`;
  };
  expect(shown(["inputs", "sheet"])).toBe("1:1-1:15");
  expect(shown(["inputs", "sheet", "my", "type"])).toBe("2:11-2:17");
  expect(shown(["inputs", "sheet", "my", "type"], "key")).toBe("2:1-2:8");
});
