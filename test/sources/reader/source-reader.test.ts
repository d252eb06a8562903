import { chmodSync } from "node:fs";
import path from "node:path";
import { openSourceReader } from "../../../src/sources/reader.ts";
import { parseSource } from "../../../src/sources/source.ts";
import { describeSourceReader } from "../../contract/source-reader.ts";
import { openServer } from "../../serve/open-server.ts";

describeSourceReader("openSourceReader, of a server of ours", async () => {
  const skills = ["alpha", "beta"].flatMap((name) => [
    [`${name}/SKILL.md`, `---\nname: ${name}\ndescription: Does ${name}.\n---\n`],
    [`${name}/scripts/run.sh`, "#!/bin/sh\n"],
  ]);
  const access = { default: "public", public: [], restricted: [], private: [] } as const;
  const server = await openServer({ access, skills: Object.fromEntries(skills) as Record<string, string> });
  for (const name of ["alpha", "beta"]) chmodSync(path.join(server.directory, name, "scripts", "run.sh"), 0o755);
  const { host } = new URL(server.url);
  return {
    reader: openSourceReader({ allowPrivate: [host, "127.0.0.1:1"], typed: [] }),
    source: parseSource(server.url),
    unreachable: parseSource("http://127.0.0.1:1"),
    close: () => server.close(),
  };
});
