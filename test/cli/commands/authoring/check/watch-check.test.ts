import { once } from "node:events";
import { renameSync, writeFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { startCli } from "../../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../../temporary-project.ts";

const project = useTemporaryProject();

const running: ReturnType<typeof startCli>[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

/** Runs `check --watch` and returns its reports one by one. */
function watch(...args: string[]) {
  const child = startCli(["check", "--watch", ...args], { cwd: project.directory });
  running.push(child);
  let printed = "";
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints += text;
  });
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const ended = once(child, "close") as Promise<[code: number | null]>;
  const nextSummary = async (): Promise<string> => {
    for (;;) {
      const found = /^\d+ skills? checked: .*\n/m.exec(printed);
      if (found !== null) {
        printed = printed.slice(found.index + found[0].length);
        return found[0].trim();
      }
      await Promise.race([
        once(child.stdout, "data"),
        ended.then(() => Promise.reject(new Error(`ended early: ${complaints}`))),
      ]);
    }
  };
  const nextComplaint = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(complaints)) await once(child.stderr, "data");
  };
  const interrupt = async (): Promise<number | null> => {
    child.kill("SIGINT");
    return (await ended)[0];
  };
  return { nextSummary, nextComplaint, interrupt };
}

test("checks again after a change, and exits with the last exit code on SIGINT", async () => {
  const file = project.write("skills/pdf/SKILL.md", skillText("pdf"));
  const { nextSummary, interrupt } = watch("skills");
  expect(await nextSummary()).toBe("1 skill checked: no problems");
  writeFileSync(file, skillText("PDF"));
  expect(await nextSummary()).toBe("1 skill checked: 1 error; 1 can be fixed with --fix");
  project.write("skills/docx/SKILL.md", skillText("docx"));
  expect(await nextSummary()).toBe("2 skills checked: 1 error; 1 can be fixed with --fix");
  expect(await interrupt()).toBe(1);
});

test("says that it is watching, even without skills, and prints the time of each check", async () => {
  const { nextSummary, nextComplaint, interrupt } = watch();
  await nextComplaint(/^acp-skills: no skills found in .*\nacp-skills: watching 0 skills; press Ctrl-C to stop\n$/);
  project.write("skills/pdf/SKILL.md", skillText("pdf"));
  expect(await nextSummary()).toBe("1 skill checked: no problems");
  await nextComplaint(/press Ctrl-C to stop\nacp-skills: ---- \d\d:\d\d:\d\d ----\n$/);
  expect(await interrupt()).toBe(0);
});

test("exits with 0 after a problem was fixed by an atomic save", async () => {
  const file = project.write("skills/pdf/SKILL.md", skillText("PDF"));
  const { nextSummary, interrupt } = watch("skills");
  expect(await nextSummary()).toBe("1 skill checked: 1 error; 1 can be fixed with --fix");
  const temporary = project.write("skills/pdf/SKILL.md.new", skillText("pdf"));
  renameSync(temporary, file);
  expect(await nextSummary()).toBe("1 skill checked: no problems");
  expect(await interrupt()).toBe(0);
});

test("checks a directory that appears later", async () => {
  const { nextSummary, interrupt } = watch("skills");
  expect(await nextSummary()).toBe("0 skills checked: 1 error");
  project.write("skills/pdf/SKILL.md", skillText("pdf"));
  expect(await nextSummary()).toBe("1 skill checked: no problems");
  expect(await interrupt()).toBe(0);
});
