import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readLabels } from "../../../../src/cli/commands/serve/worker.ts";
import { runCli, unfolded } from "../../run-cli.ts";
import { useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();

test("labels are words or NAME=VALUE, each once", () => {
  expect(readLabels("gpu,region=eu-west.1,gpu,,big_memory")).toEqual(["gpu", "region=eu-west.1", "big_memory"]);
  expect(readLabels("")).toEqual([]);
});

test("labels have no comma, blank, quote or control character, whatever is given", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (given) => {
      let labels: readonly string[] = [];
      try {
        labels = readLabels(given);
      } catch (error) {
        expect((error as Error).message).toMatch(/^--labels /);
      }
      for (const label of labels) expect(label).toMatch(/^[\w.=-]{1,127}$/);
    }),
  );
});

const url = "--cluster postgres://127.0.0.1:1/x";
test.each([
  ["--labels GPU", /--labels GPU: a label is a word such as gpu/],
  ["--labels a=b=c", /--labels a=b=c: a label is a word/],
  [`--labels ${"a".repeat(64)}`, /up to 63 characters each/],
  ["--labels tier=bubblewrap", /tier, arch and os are found out by the worker/],
  ["--labels gpu,arch", /tier, arch and os are found out by the worker/],
  [`--labels ${[...Array(33).keys()].map((at) => `l${at}`).join(",")}`, /takes up to 32 labels, not 33/],
  ["--concurrency 0", /--concurrency needs a number from 1 to 1000, not 0/],
  ["--concurrency many", /--concurrency needs a number from 1 to 1000, not many/],
  ["--drain 3601", /--drain needs a number from 0 to 3600, not 3601/],
  ["--lease 4", /--lease needs a number from 5 to 3600, not 4/],
  ["--metrics localhost:1", /--metrics needs a port, or an address and a port such as 0\.0\.0\.0:9464/],
  ["--metrics 0.0.0.0:65536", /--metrics needs a number from 0 to 65535/],
  ["--cluster postgres://acp:hunter2@db/x", /others can read a password/],
])("refuses: worker %s", async (words, message) => {
  const line = words.startsWith("--cluster") ? words : `${url} ${words}`;
  const { code, stdout, stderr } = await runCli(["worker", ...line.split(" ")], { cwd: project.directory });
  expect(unfolded(stderr)).toMatch(message);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).not.toContain("hunter2");
});

test("asks for a database where none is named", async () => {
  const { code, stderr } = await runCli(["worker"], { cwd: project.directory });
  expect([code, unfolded(stderr)]).toEqual([
    2,
    expect.stringContaining("Give --cluster URL, or set ACP_SKILLS_CLUSTER"),
  ]);
});
