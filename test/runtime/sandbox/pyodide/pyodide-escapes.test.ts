import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json, RunEnd, Sandbox } from "../../../../src/runtime/sandbox.ts";
import { recordingHost } from "../../../contract/sandbox/recording-host.ts";
import { type More, codeRun, python } from "../../../contract/sandbox/runs.ts";
import { openPyodideForTests } from "./open-pyodide.ts";

/** Attacks through the JavaScript around Pyodide, which the Python attacks of the contract suite do not cover. */
describe("code that escapes from Pyodide into Deno", { timeout: 60_000 }, () => {
  let opened: Sandbox | { skip: string } = { skip: "" };
  let bait = "";
  beforeAll(async () => {
    opened = await openPyodideForTests();
    bait = mkdtempSync(join(tmpdir(), "acp-skills-bait-"));
    writeFileSync(join(bait, "file"), "never seen");
    process.env["ACP_SKILLS_BAIT"] = "never seen";
  }, 60_000);
  afterAll(async () => {
    delete process.env["ACP_SKILLS_BAIT"];
    rmSync(bait, { recursive: true });
    if (!("skip" in opened)) await opened.close();
  });

  async function run(code: string, args: Json = {}, more: More = {}): Promise<RunEnd> {
    if ("skip" in opened) throw new Error(opened.skip);
    return opened.run(codeRun(code, { args, ...more }), recordingHost(), new AbortController().signal);
  }

  /** Awaits each JavaScript expression and returns its outcome. */
  async function evaluate(expressions: Record<string, string>): Promise<Record<string, string>> {
    const end = await run(
      python`
        import js
        from pyodide.code import run_js
        from pyodide.ffi import run_sync

        def one(text):
            wrapped = "(async () => { try { return 'got: ' + String(await (" + text + ")).slice(0, 100) } catch (error) { return String(error?.name) + ': ' + String(error?.message).slice(0, 200) } })()"
            return run_sync(run_js(wrapped))

        def main(args):
            return {name: one(text) for name, text in args.items()}
      `,
      expressions,
    );
    expect(end.type, JSON.stringify(end)).toBe("returned");
    return (end as unknown as { value: Record<string, string> }).value;
  }

  function tell({ skip }: { skip: (reason: string) => void }): void {
    if ("skip" in opened) skip(opened.skip);
  }

  it.each([
    "js.Deno.exit(3)",
    "js.Deno.exit()",
    "js.self.close()",
    "js.globalThis.close()",
    "js.eval('self.close(); for (;;);')",
  ])("a run that terminates its own thread by %s ends immediately as a crash", async (text) => {
    if ("skip" in opened) return;
    const code = `import js, time\ndef main():\n    ${text}\n    while True: time.sleep(1)\n`;
    const end = await run(code, {}, { limits: { timeoutMs: 50_000 } });
    expect(end).toMatchObject({ type: "crashed", detail: expect.stringMatching("without a result") as string });
  });

  it("cannot read, list, write, start, connect to or query anything of the host", async (context) => {
    tell(context);
    const file = JSON.stringify(join(bait, "file"));
    const made = JSON.stringify(join(bait, "made"));
    const url = JSON.stringify(`file://${join(bait, "file")}`);
    const from = (module: string, rest: string): string => `import("node:${module}").then((m) => ${rest})`;
    const tried = await evaluate({
      read: `Deno.readTextFile(${file})`,
      open: `Deno.open(${file})`,
      stat: `Deno.stat(${file})`,
      list: `Array.fromAsync(Deno.readDir(${JSON.stringify(bait)}))`,
      write: `Deno.writeTextFile(${made}, "x")`,
      link: `Deno.symlink(${file}, ${made})`,
      remove: `Deno.remove(${file})`,
      environment: "Deno.env.toObject()",
      variable: 'Deno.env.get("ACP_SKILLS_BAIT")',
      program: 'new Deno.Command("/bin/true").output()',
      library: 'Deno.dlopen("/lib/x86_64-linux-gnu/libc.so.6", {})',
      connect: 'Deno.connect({ hostname: "127.0.0.1", port: 80 })',
      listen: "Deno.listen({ port: 0 })",
      names: 'Deno.resolveDns("example.org", "A")',
      fetch: 'fetch("http://127.0.0.1:8080/")',
      "fetch of a file": `fetch(${url})`,
      socket:
        'new Promise((resolve, reject) => { const s = new WebSocket("ws://127.0.0.1:8080/"); s.onopen = resolve; s.onerror = reject; })',
      "host name": "Deno.hostname()",
      user: "Deno.uid()",
      "kill of the parent": 'Deno.kill(Deno.ppid, "SIGCONT")',
      "kill of the group": 'Deno.kill(0, "SIGCONT")',
      "kill of everybody": 'Deno.kill(-1, "SIGCONT")',
      "temporary directory": "Deno.makeTempDir()",
      "import of a file": `import(${url}, { with: { type: "text" } })`,
      "import from the web": 'import("https://deno.land/std/version.ts")',
      "import from npm": 'import("npm:chalk")',
      "import from jsr": 'import("jsr:@std/path")',
      "read, by Node's name": from("fs", `m.readFileSync(${file}, "utf8")`),
      "write, by Node's name": from("fs", `m.writeFileSync(${made}, "x")`),
      "program, by Node's name": from("child_process", 'm.execFileSync("/bin/true")'),
      "connect, by Node's name": from("dns", 'm.promises.lookup("example.org")'),
      "database in a file": from("sqlite", `new m.DatabaseSync(${made})`),
      "database that is attached": from(
        "sqlite",
        `new m.DatabaseSync(":memory:").exec("attach ${join(bait, "made")} as x")`,
      ),
      inspector: from("inspector", "m.open(0)"),
      "what is kept": 'caches.open("x").then((cache) => cache.put("http://a.b/c", new Response("x")))',
      "a right, asked for":
        'Deno.permissions.request({ name: "read" }).then(({ state }) => { if (state !== "granted") throw new Error(state); })',
      "a right of a worker": `new Promise((resolve, reject) => {
        const text = "try { postMessage(Deno.readTextFileSync(" + ${JSON.stringify(file)} + ")) } catch (error) { postMessage(String(error)) }";
        const worker = new Worker(URL.createObjectURL(new Blob([text])), { type: "module" });
        worker.onmessage = ({ data }) => reject(new Error(data));
      })`,
    });
    const got = Object.fromEntries(Object.entries(tried).filter(([, outcome]) => outcome.startsWith("got: ")));
    expect(got).toEqual({});
    expect(JSON.stringify(tried)).not.toContain("never seen");
    expect(existsSync(join(bait, "made"))).toBe(false);
    expect(readFileSync(join(bait, "file"), "utf8")).toBe("never seen");
  });

  it("gets no graphics device", async (context) => {
    tell(context);
    const { device } = await evaluate({ device: "navigator.gpu?.requestAdapter()" });
    expect(device).toMatch(/^got: (null|undefined)$/);
  });

  it("cannot read the files of the tier itself once it runs", async (context) => {
    tell(context);
    const tried = await evaluate({
      own: `Deno.readTextFile(${JSON.stringify(fileURLToPath(new URL("../../../../src/runtime/sandbox/inside/deno/main.js", import.meta.url)))})`,
      state:
        'Deno.permissions.query({ name: "read" }).then(({ state }) => { if (state !== "granted") throw new Error(state); })',
    });
    for (const outcome of Object.values(tried)) expect(outcome).not.toMatch(/^got: /);
  });

  it.runIf(process.platform !== "win32")(
    "cannot fill the disk, not even by a database that spills to it",
    async (context) => {
      tell(context);
      const free = (): number => statfsSync("/var/tmp").bavail;
      const before = free();
      const spill = `const { DatabaseSync } = await import("node:sqlite");
      const database = new DatabaseSync(":memory:");
      database.exec("pragma temp_store=1; pragma cache_size=1; create temp table t(a)");
      database.exec("with recursive c(x) as (select 1 union all select x+1 from c where x<50000) insert into t select randomblob(1000) from c");`;
      const end = await run(
        "from pyodide.code import run_js\nfrom pyodide.ffi import run_sync\ndef main(args): run_sync(run_js(args))\n",
        `(async () => { ${spill} })()`,
      );
      expect(end.type).not.toBe("returned");
      expect(before - free()).toBeLessThan(8192);
    },
  );

  it.each([
    ["buffers", "const kept = []; for (;;) kept.push(new Uint8Array(1 << 24).fill(1));"],
    [
      "WebAssembly's memory",
      "const kept = []; for (;;) { const m = new WebAssembly.Memory({ initial: 256 }); new Uint8Array(m.buffer).fill(1); kept.push(m); }",
    ],
    ["objects", "const kept = []; for (;;) kept.push({ a: [1, 2, 3] });"],
    ["messages", "const b = new Uint8Array(1 << 20).fill(1); for (;;) postMessage(b);"],
    ["threads", 'const u = URL.createObjectURL(new Blob(["for (;;);"])); for (;;) new Worker(u, { type: "module" });'],
  ])("memory allocated as %s counts toward the limits of the run", async (what, code) => {
    if ("skip" in opened) return;
    const limits = { memoryBytes: 96 * 1024 * 1024, timeoutMs: what === "threads" ? 4000 : 30_000 };
    const end = await run("import js\ndef main(args): js.eval(args)", `(() => { ${code} })()`, { limits });
    const expected = what === "threads" ? ["memory", "timeout"] : ["memory"];
    expect(expected).toContain(end.type === "limit" ? end.limit : JSON.stringify(end));
  });

  it.each([
    ["computes forever", "for (;;);"],

    ["reads the stdin of the program", "const b = new Uint8Array(9); for (;;) Deno.stdin.readSync(b);"],
  ])("a run that %s times out", async (_what, code) => {
    if ("skip" in opened) return;
    const end = await run("import js\ndef main(args): js.eval(args)", `(() => { ${code} })()`, {
      limits: { timeoutMs: 1000 },
    });
    expect(end).toEqual({ type: "limit", limit: "timeout" });
  });

  it("cannot disable the watchdog that enforces the limits", async (context) => {
    tell(context);
    const end = await run(
      python`
        import js
        def main():
            js.eval("self.onmessage = null; for (let n = 0; n < 1000; n++) postMessage(new Int32Array(new SharedArrayBuffer(16)))")
            js.eval("WebAssembly.Memory.prototype.grow = Object.getPrototypeOf(async () => 0).constructor")
            kept = []
            while True:
                kept.append(js.Uint8Array.new(1 << 24).fill(1))
      `,
      {},
      { limits: { memoryBytes: 96 * 1024 * 1024 } },
    );
    expect(end).toEqual({ type: "limit", limit: "memory" });
  });

  it("a run that kills itself is a crash, and the next run works", async (context) => {
    tell(context);
    const end = await run("import js\ndef main(): js.Deno.kill(js.Deno.pid, 'SIGKILL')");
    expect(end.type).toBe("crashed");
    expect(await run("def main(): return 1")).toMatchObject({ type: "returned", value: 1 });
  });
});
