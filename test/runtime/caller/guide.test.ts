import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renderGuide } from "../../../src/runtime/caller/guide.ts";
import { openTools } from "../tools/open-tools.ts";
import { type ToolName, toolNames } from "../../../src/wire/tools.ts";
import { defaultToolLimits, toToolLimits } from "../../../src/runtime/blobs/blob-rules.ts";

const template = readFileSync(new URL("../../../src/runtime/caller/guide/SKILL.md", import.meta.url), "utf8");
const mentioned = (text: string): ToolName[] => toolNames.filter((name) => text.includes(name));

/** An upper bound for English prose with any tokenizer. */
const tokensAtMost = (text: string): number => Math.ceil(text.length / 4);

const subsets: readonly (readonly ToolName[])[] = [
  toolNames,
  [],
  ["list_skills"],
  ["read_blob"],
  ["list_skills", "describe_skill", "read_skill_file"],
  toolNames.filter((name) => name !== "execute_skill" && name !== "run_code"),
  toolNames.filter((name) => name !== "create_blob" && name !== "read_blob"),
];

test.each(subsets.map((subset) => [subset.join(" "), subset] as const))(
  "with the tools [%s], the guide names no other tool and has no empty heading or placeholder",
  (_names, subset) => {
    const text = renderGuide(template, subset, defaultToolLimits);
    expect(subset).toEqual(expect.arrayContaining(mentioned(text)));
    expect(text).not.toMatch(/\{\{|\}\}|undefined|NaN/);
    expect(text).not.toMatch(/\n#+ [^\n]*\n+(#|$)/);
    expect(text).not.toContain("\n\n\n");
    expect(tokensAtMost(text)).toBeLessThanOrEqual(1000);
  },
);

test("with all tools, the guide names each except its own", () => {
  expect(mentioned(renderGuide(template, toolNames, defaultToolLimits))).toEqual(
    toolNames.filter((name) => name !== "load_skills_protocol_guide"),
  );
});

test("the guide names the parameters that use files of the project", () => {
  const text = renderGuide(template, toolNames, defaultToolLimits);
  expect(text).toContain("give its `path`");
  expect(text).toContain("With `save_as`");
});

test("the guide states the blob limits of the store", () => {
  const text = renderGuide(
    template,
    toolNames,
    toToolLimits({ maxBlobBytes: 3.5 * 1024 * 1024, ttlMs: 90 * 60 * 1000 }),
  );
  expect(text).toContain("up to 3.5 MiB");
  expect(text).toContain("gone after 1.5 hours");
});

test("the guide states the actual limits of runs", () => {
  const text = renderGuide(template, toolNames, defaultToolLimits);
  expect(text).toContain("time out after 30 seconds");
  expect(text).toContain("at most 600000.");
  expect(text).toContain("Output above 4 KiB is stored as a blob");
});

test("load_skills_protocol_guide returns the guide even without skills", async () => {
  const { call } = await openTools({});
  const { content } = (await call("load_skills_protocol_guide")) as { content: string };
  expect(content.startsWith("# ")).toBe(true);
  expect(content).not.toContain("short_description");
  expect(mentioned(content)).toEqual([
    "list_skills",
    "describe_skill",
    "read_skill_file",
    "execute_skill",
    "run_code",
    "create_blob",
    "read_blob",
  ]);
});

test("the guide is listed, described and read like a skill", async () => {
  const { call } = await openTools({});
  const { content } = (await call("load_skills_protocol_guide")) as { content: string };
  const name = "skills.protocol.guide";
  const file = (await call("read_skill_file", { name, path: "SKILL.md" })) as { content: string; size_bytes: number };
  expect(file.content.endsWith(content)).toBe(true);
  const described = await call("describe_skill", { name: "skills-protocol-guide", detail: "full" });
  expect(described).toMatchObject({
    skill: {
      manifest: { name, version: "0.1.0", kind: "instruction" },
      versions: ["0.1.0"],
      files: [{ path: "SKILL.md", size_bytes: file.size_bytes }],
      skill_md_content: file.content,
    },
  });
});

test("no visibility filter hides the guide", async () => {
  const { call } = await openTools({});
  const visible = () => false;
  expect(await call("list_skills", {}, { visible })).toMatchObject({ skills: [{ name: "skills.protocol.guide" }] });
  await call("describe_skill", { name: "skills.protocol.guide" }, { visible });
});

test("a caller with fewer tools gets a shorter guide", async () => {
  const { call } = await openTools({});
  const tools = ["list_skills", "load_skills_protocol_guide", "read_skill_file"] as const;
  const { content } = (await call("load_skills_protocol_guide", {}, { tools })) as { content: string };
  expect(mentioned(content)).toEqual(["list_skills", "read_skill_file"]);
});
