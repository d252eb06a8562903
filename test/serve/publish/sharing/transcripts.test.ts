import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { ServeConfig } from "../../../../src/serve/config.ts";
import { callerConfig } from "../../caller-config.ts";
import { openServed } from "../../open-served.ts";

const here = new URL("transcripts/", import.meta.url);

function skill(name: string, version: string, description: string, rest = ""): Record<string, string> {
  const manifest = `name = "${name}"\nversion = "${version}"\ndescription = "${description}"\nkind = "action"\n`;
  return {
    [`${name}/SKILL.md`]: `---\nname: ${name}\nshort_description: Short.\n---\n`,
    [`${name}/skill.toml`]: `${manifest}[runtime]\nlanguage = "python"\nentrypoint = "main.py"\n${rest}`,
    [`${name}/main.py`]: "def main(args):\n    return args\n",
  };
}

const skills = {
  ...skill(
    "translate",
    "2.1.0",
    "High-quality text translation service supporting 100+ languages",
    '[inputs.text]\ntype = "string"\ndescription = "What to translate"\nrequired = true\n[outputs.text]\ntype = "string"\n',
  ),
  ...skill("sentiment", "1.0.0", "Text sentiment analysis service"),
  ...skill("ledger", "1.0.0", "Keeps books"),
};

const config: Partial<ServeConfig> = {
  provider: { name: "Example Corp", url: "https://example.com", domain: "com.example" },
  publicUrl: "https://example.com",
  access: { default: "private", public: ["sentiment"], restricted: ["translate"], private: [] },
  callers: [callerConfig("ada")],
};

test.each(readdirSync(here))("%s goes as written", async (file) => {
  const served = await openServed({ skills, config });
  const transcript = readFileSync(new URL(file, here), "utf8");
  const told = [transcript.split("\n\n", 1)[0]];
  for (const exchange of transcript.trim().split("\n\n").slice(1)) {
    const [asked = "", ...further] = exchange.split("\n").filter((line) => line.startsWith("> "));
    const [, method = "", path = "", body] = /^> (\S+) (\S+)(?: (.*))?$/.exec(asked) ?? [];
    const as = further.map((line) => /^> as (.*)$/.exec(line)?.[1]).find((name) => name !== undefined);
    const headers = further.flatMap((line) => [...(/^> ([a-z-]+): (.*)$/.exec(line)?.slice(1) ?? [])]);
    const answer = await served.get(path, {
      method,
      as,
      headers: {
        "content-type": "application/json",
        ...(headers[0] !== undefined && { [headers[0]]: headers[1] ?? "" }),
      },
      ...(body !== undefined && { body }),
    });
    const head = [asked, ...further, `< ${answer.status} ${answer.headers.get("cache-control")}`];
    const isDiscovery =
      method !== "POST" && [200, 304].includes(answer.status) && answer.headers.get("cache-control") !== "no-store";
    expect(answer.headers.get("vary")).toBe(isDiscovery ? "authorization" : null);
    expect(answer.headers.has("etag")).toBe(isDiscovery);
    const { text } = answer;
    told.push([...head, ...(text === "" ? [] : [text])].join("\n"));
  }
  expect(`${told.join("\n\n")}\n`).toBe(transcript);
});
