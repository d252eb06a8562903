import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { apiReference } from "../.config/api-reference.js";
import * as client from "../src/client/index.ts";
import * as acpSkills from "../src/index.ts";

const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), "utf8");

/** The names that an entry point exports, types included. */
function exportsOf(file: string): readonly string[] {
  return [...read(file).matchAll(/^export (?:type )?\{([^}]+)\}/gm)].flatMap(([, names = ""]) =>
    names
      .split(",")
      .map((name) => name.trim())
      .filter(Boolean),
  );
}

describe("the API reference", () => {
  let generated = "";
  beforeAll(async () => {
    generated = await apiReference();
  }, 120_000);

  test("docs/api.md is what `npm run docs` writes", () => {
    expect(read("docs/api.md")).toBe(generated);
  });

  test("has one section for each export of the entry points, in a group that says for whom it is", () => {
    const files = ["src/index.ts", "src/client/index.ts", "src/runtime/ports.ts"];
    const names = [...files.flatMap(exportsOf), "Ports", "PortContext", "OpenPort", "toApprovedCopy"];
    expect(names).toEqual(expect.arrayContaining([...Object.keys(acpSkills), ...Object.keys(client)]));
    const [grouped = ""] = generated.split("\n## Types without an export");
    const sections = [...grouped.slice(grouped.indexOf("\n## ")).matchAll(/^### (.+)$/gm)].map(([, name]) => name);
    expect(sections.sort()).toEqual([...new Set(names)].sort());
  });

  test("describes each of them in words", () => {
    const silent = generated
      .split(/^### /m)
      .slice(1)
      .filter(
        (section) =>
          !/^(?!```|- |See |## )[A-Z`]/m.test(section.replace(/^.*\n/, "").replace(/^```ts\n.*?^```$/gms, "")),
      )
      .map((section) => section.split("\n")[0]);
    expect(silent).toEqual([]);
  });

  test("leads only to headings that it has, each once, and names nothing of this machine", () => {
    const headings = [...generated.matchAll(/^##+ (.+)$/gm)].map(([, heading = ""]) =>
      heading.toLowerCase().replaceAll(" ", "-"),
    );
    expect(new Set(headings).size).toBe(headings.length);
    const links = [...generated.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
    expect(headings).toEqual(expect.arrayContaining(links));
    expect(generated).not.toContain(new URL("..", import.meta.url).pathname);
  });
});
