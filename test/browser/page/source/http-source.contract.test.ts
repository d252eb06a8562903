import { onTestFinished } from "vitest";
import { createHttpSource } from "../../../../src/browser/page/source/http-source.ts";
import { describeSkillSource } from "../../../contract/skill-source.ts";
import { startFakeServer } from "../fake-server.ts";
import { inventRow } from "../invented-rows.ts";

describeSkillSource("http-source", async () => {
  const row = (name: string, description = `Does ${name}.`) => inventRow(1, { id: name, name, description });
  const server = await startFakeServer([row("b"), row("a")]);
  onTestFinished(() => server.close());
  return {
    source: createHttpSource(server.address),
    put: (name, description) => {
      server.change([row(name, description)]);
    },
    remove: (name) => {
      server.change([], [name]);
    },
  };
});
