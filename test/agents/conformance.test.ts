import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ConformanceReport } from "../../src/conformance/report.ts";
import { openMockModel } from "./mock-model.ts";
import { makePlayground } from "./playground.ts";
import { claude, codex, copilot, gemini, kilo, kimi, opencode, prepareHome, qwen } from "./real-agents.ts";
import { wrapper } from "./wrapped-process.ts";

/** Set to a directory to keep the transcripts. */
const kept = process.env["ACP_SKILLS_RECORD"];

test.each([claude, opencode, kilo, codex, gemini, qwen, copilot, kimi].map((agent) => [agent.name, agent] as const))(
  "the wrapper around %s is conformant for editors of every kind",
  async (_name, agent) => {
    let command: readonly string[];
    try {
      command = await agent.command();
    } catch (error) {
      console.warn(`${agent.name} is skipped, because it cannot be installed: ${String(error)}`);
      return;
    }
    const { home, project, temporary, remove } = await makePlayground();
    onTestFinished(remove);
    const model = await openMockModel();
    onTestFinished(model.close);
    await prepareHome(agent, { modelUrl: model.url, home });
    const record = join(temporary, "transcript.ndjson");
    const child = spawn(
      process.execPath,
      [
        ...[wrapper, "conformance", "--timeout", "120", "--format", "json", "--record", record, "--prompt", "Hello."],
        ...["--", process.execPath, wrapper, "--", ...command],
      ],
      {
        cwd: project,
        env: {
          PATH: process.env["PATH"],
          HOME: home,
          TMPDIR: temporary,
          ...agent.environment({ modelUrl: model.url, home }),
        },
      },
    );
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
    const [code] = (await once(child, "close")) as [number | null];
    if (kept !== undefined) {
      mkdirSync(kept, { recursive: true });
      writeFileSync(join(kept, `${agent.name}.ndjson`), await readFile(record));
      writeFileSync(join(kept, `${agent.name}.json`), stdout);
    }
    const report = JSON.parse(stdout) as ConformanceReport;
    console.log(summary(agent.name, report));
    // A list of commands that Copilot itself sends too early reaches the editor as it was sent.
    const isItsOwn = ({ rule }: { readonly rule: string }): boolean =>
      agent === copilot && rule === "session-known-first";
    const wrong = report.connections.flatMap(({ findings, faults, notes }) => [
      ...findings.filter((finding) => !isItsOwn(finding)),
      ...faults,
      ...notes,
    ]);
    expect(wrong).toEqual(
      report.connections
        .slice(3)
        .flatMap(({ protocol }) => (protocol === 2 ? [] : ["the agent does not speak ACP v2"])),
    );
    expect(report.connections.slice(0, 3).map(({ forms }) => forms.map(({ form }) => form))).toEqual([
      // An editor that said nothing about skills gets commands like any other.
      expect.not.arrayContaining(['commands with _meta["acp-skills"]']),
      expect.arrayContaining(['commands with _meta["acp-skills"]', "available_skills_update"]),
      expect.arrayContaining(["_acp-skills/skills_update", "changes in _acp-skills/skills_update"]),
    ]);
    expect(report.connections[0]?.forms.map(({ form }) => form)).toContain("plain commands");
    expect([code, stderr]).toEqual([0, expect.any(String)]);
  },
  900_000,
);

function summary(name: string, { conformant, errors, warnings, connections }: ConformanceReport): string {
  const parts = connections.map((connection) => {
    const forms = connection.forms.map(({ form, most, updates }) => `${form} (${most}, ${updates}×)`);
    const wrong = [
      ...connection.faults,
      ...connection.notes,
      ...connection.findings.map(({ line, message }) => `line ${line}: ${message}`),
    ];
    return `  ${connection.name}, ACP v${connection.protocol}: ${[...forms, ...wrong].join("; ")}`;
  });
  return [`${name}: conformant: ${conformant}, ${errors} errors, ${warnings} warnings`, ...parts].join("\n");
}
