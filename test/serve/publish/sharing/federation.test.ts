import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openApp } from "../../../../src/runtime/app.ts";
import { localOwner } from "../../../../src/runtime/caller.ts";
import type { ServeConfig } from "../../../../src/serve/config.ts";
import { readOptions } from "../../../../src/runtime/options.ts";
import { secretNameOf, toSkillFiles } from "../../../../src/sources/invoke/to-skill-files.ts";
import { maxWholeOutputBytes } from "../../../../src/runtime/runs/record/whole-result.ts";
import { maxJsonDepth } from "../../../../src/base/json/json-value.ts";
import { skillDescriptor } from "../../../../src/wire/skill-sharing.ts";
import { refusal } from "../../../runtime/tools/open-tools.ts";
import type { MemoryScript } from "../../../runtime/sandbox/memory-sandbox.ts";
import { callerConfig, tokenOf } from "../../caller-config.ts";
import { type Served, type ServedOptions, action, openServed } from "../../open-served.ts";

const config: Partial<ServeConfig> = {
  provider: { name: "Example Corp", domain: "com.example" },
  access: { default: "private", public: ["open.*"], restricted: ["shared.*"], private: [] },
  callers: [callerConfig("ada")],
};

const serve = (options: Partial<ServedOptions> = {}): Promise<Served> =>
  openServed({
    skills: { ...action("open.sum"), ...action("shared.sum", '[inputs.text]\ntype = "string"\nrequired = true\n') },
    config,
    ...options,
  });

/** Another machine's tools, with the skill of a server among its own. */
async function consume(served: Served, slug: string, { isGranted = true } = {}) {
  const directory = mkdtempSync(join(tmpdir(), "acp-skills-federated-"));
  const descriptor = skillDescriptor.parse((await served.get(`/skills/${slug}/descriptor.json`)).body);
  const files = toSkillFiles(descriptor, slug);
  if ("why" in files) throw new Error(files.why);
  for (const { path, bytes } of files) {
    const file = join(directory, "skills", slug, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
  const app = openApp(
    readOptions(
      {
        dataDirectory: join(directory, "data"),
        directories: [join(directory, "skills")],
        defaultRoots: false,
        grants: isGranted ? [slug.replaceAll("-", ".")] : [],
      },
      { home: directory },
    ),
  );
  const session = app.openSession({});
  onTestFinished(async () => {
    session.close();
    await app.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  });
  await session.catalog.ready;
  const person = { owner: localOwner, transport: "cli", skills: session.catalog } as const;
  const call = (tool: string, args: object, signal?: AbortSignal): Promise<unknown> =>
    app.toolbox.call(tool, args, person, signal);
  return {
    app,
    call,
    execute: (args: object, signal?: AbortSignal) => call("execute_skill", { name: slug, ...args }, signal),
  };
}

function setSecret(served: Served, value = tokenOf("ada")): void {
  vi.stubEnv(secretNameOf(new URL(served.url)) ?? "", value);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
}

describe("a skill of another server", () => {
  test("is executed there, and is a run here", async () => {
    const served = await serve();
    const { app, execute, call } = await consume(served, "open-sum");
    const result = (await execute({ args: { numbers: [1, 2] } })) as { readonly run_id: string };
    expect(result).toMatchObject({
      status: "completed",
      output: { numbers: [1, 2] },
      version: "2.1.0",
      limits_applied: { isolation: "remote" },
    });
    await vi.waitFor(async () => {
      const record = await (await app.runRecords()).read(result.run_id);
      expect(record).toMatchObject({
        status: "completed",
        spec: {
          program: { type: "remote", endpoint: `${served.url}/skills/open-sum/executions` },
          needs: { network: [served.url], secrets: [], project: "none" },
        },
        events: [{ type: "queued" }, { type: "started", isolation: "remote" }, { type: "ended" }],
      });
    });
    expect(await call("describe_skill", { name: "open-sum" })).toMatchObject({
      skill: { manifest: { kind: "action", remote: { endpoint: `${served.url}/skills/open-sum/executions` } } },
    });
  });

  test("gets the secret of its host, which is masked in what it answers", async () => {
    const echo: MemoryScript = () => ({ type: "returned", value: `got ${tokenOf("ada")}` });
    const served = await serve({ script: echo });
    setSecret(served);
    const { execute } = await consume(served, "shared-sum");
    const result = await execute({ args: { text: "x" } });
    expect(result).toMatchObject({ status: "completed" });
    expect(JSON.stringify(result)).not.toContain(tokenOf("ada"));
  });

  test("may answer a long output, which is a blob here, without the secret", async () => {
    const output = { text: `${"é".repeat(25 * 1024)} ${tokenOf("ada")}` };
    const served = await serve({ script: () => ({ type: "returned", value: output }) });
    setSecret(served);
    const { execute, call } = await consume(served, "shared-sum");
    const result = await execute({ args: { text: "x" } });
    const { output: stored, output_blobs: blobs } = result as {
      readonly output: { readonly blob_id: string; readonly size_bytes: number };
      readonly output_blobs: readonly string[];
    };
    expect(result).toMatchObject({ status: "completed", summary: "Completed.", output: { truncated: true } });
    expect(blobs).toEqual([stored.blob_id]);
    const read = await call("read_blob", { blob_id: stored.blob_id, mode: "full" });
    const { content, ...facts } = read as { readonly content: string };
    expect(facts).toMatchObject({ kind: "application/json", size_bytes: stored.size_bytes, truncated: false });
    expect(content).not.toContain(tokenOf("ada"));
    expect((JSON.parse(content) as typeof output).text.slice(0, 25 * 1024)).toBe("é".repeat(25 * 1024));
  });

  test("may answer as long an output as a run may return", async () => {
    const output = "x".repeat(maxWholeOutputBytes - 2);
    const { execute } = await consume(await serve({ script: () => ({ type: "returned", value: output }) }), "open-sum");
    expect(await execute({})).toMatchObject({ status: "completed", output: { size_bytes: maxWholeOutputBytes } });
  });

  test("may answer an output as deep as a run may return", async () => {
    const output = JSON.parse("[".repeat(maxJsonDepth) + "]".repeat(maxJsonDepth)) as [];
    const { execute } = await consume(await serve({ script: () => ({ type: "returned", value: output }) }), "open-sum");
    expect(await execute({})).toMatchObject({ status: "completed", output });
  });

  test.each([
    [4, "Blobs that the run created (1) stay on HOST and cannot be read here. Completed."],
    [maxWholeOutputBytes, "Only a preview of the output is here: HOST keeps the rest. Completed."],
  ])("keeps its blobs beside an output of %i characters: no id arrives as one of ours", async (length, summary) => {
    const served = await serve({
      script: async ({ createBlob }) => {
        await createBlob("text/plain", "there");
        return { type: "returned", value: "x".repeat(length) };
      },
    });
    const { execute } = await consume(served, "open-sum");
    const result = await execute({});
    expect(result).toMatchObject({
      status: "completed",
      summary: summary.replace("HOST", new URL(served.url).host),
      output_blobs: [],
    });
    expect(JSON.stringify(result)).not.toContain("blob:");
  });

  test("is not invoked without a grant, its secret, or the right arguments", async () => {
    const served = await serve();
    const ungranted = await consume(served, "shared-sum", { isGranted: false });
    expect(await refusal(ungranted.execute({ args: { text: "x" } }))).toMatchObject({ code: "PERMISSION_DENIED" });
    const { execute } = await consume(served, "shared-sum");
    expect(await refusal(execute({ args: { text: "x" } }))).toMatchObject({ code: "SECRET_MISSING" });
    expect(await refusal(execute({ args: { texts: "x" } }))).toMatchObject({ code: "VALIDATION_ERROR" });
    expect(await refusal(execute({ args: { text: "x" }, input_blobs: ["blob:abc"] }))).toMatchObject({
      code: "VALIDATION_ERROR",
    });
  });

  test("fails where the server refuses the secret", async () => {
    const served = await serve();
    setSecret(served, "of somebody else");
    const { execute } = await consume(served, "shared-sum");
    expect(await execute({ args: { text: "x" } })).toMatchObject({
      status: "failed",
      error: { type: "EndpointError", code: "AUTH_REQUIRED" },
    });
  });

  test("fails as it failed there", async () => {
    const served = await serve({
      script: () => ({ type: "raised", error: { type: "ModuleNotFoundError", message: "No module named 'x'" } }),
    });
    const result = (await (await consume(served, "open-sum")).execute({})) as { error: object };
    expect(result).toMatchObject({
      status: "failed",
      error: { type: "ModuleNotFoundError", message: "No module named 'x'" },
    });
    expect(JSON.stringify(result)).not.toContain("acp-skills install");
  });

  test("fails with ENDPOINT_UNREACHABLE where nobody answers", async () => {
    const served = await serve();
    const { execute } = await consume(served, "open-sum");
    await served.close();
    expect(await execute({})).toMatchObject({ status: "failed", error: { code: "ENDPOINT_UNREACHABLE" } });
  });

  test("is cancelled there when its time is over here", async () => {
    const served = await serve({ script: ({ forever }) => forever() });
    const { execute } = await consume(served, "open-sum");
    expect(await execute({ timeout_ms: 700 })).toMatchObject({
      status: "failed",
      error: { type: "TimeoutError", code: "EXECUTION_TIMEOUT" },
    });
    await vi.waitFor(async () => expect((await served.records.read("run_0000000001"))?.status).toBe("cancelled"));
  });

  test("is not replayed", async () => {
    const served = await serve();
    const { app, execute } = await consume(served, "open-sum");
    const { run_id: id } = (await execute({})) as { readonly run_id: string };
    const session = app.openSession({});
    await session.catalog.ready;
    await vi.waitFor(async () => expect((await (await app.runRecords()).read(id))?.status).toBe("completed"));
    const person = { owner: localOwner, transport: "cli", skills: session.catalog } as const;
    const { message } = await refusal(app.toolbox.replay(id, person));
    expect(message).toContain("the skill open.sum runs on another machine");
  });
});
