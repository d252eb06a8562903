import { randomBytes } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { allEnvironments } from "./host-state.ts";
import { codeRun, python } from "./runs.ts";
import type { Trial } from "./tier.ts";

/** Secrets are available only to the run that declared them. */
export function describeSecrets(trial: Trial): void {
  const secret = `secret-${randomBytes(12).toString("hex")}`;
  const secrets = { API_KEY: secret };

  describe("secrets", () => {
    it("are available by name, and not in the environment", () => {
      const code = python`
        import os, runtime

        def main():
            return [runtime.secret("API_KEY"), "API_KEY" in os.environ, runtime.secret("API_KEY") in str(dict(os.environ))]
      `;
      return trial.run(codeRun(code, { secrets }), ({ end }) =>
        expect(end).toMatchObject({ type: "returned", value: [secret, false, false] }),
      );
    });

    it("that are not declared raise an error with their name", () =>
      trial.run(codeRun("import runtime\ndef main(): return runtime.secret('OTHER_KEY')", { secrets }), ({ end }) => {
        expect(end).toMatchObject({ type: "raised" });
        expect(JSON.stringify(end)).toContain("OTHER_KEY");
      }));

    it("are in no command line, environment or file of the host during the run", () => {
      const cancel = new AbortController();
      const places: string[] = [];
      const code = "import time\ndef main():\n    print('started', flush=True)\n    time.sleep(600)\n";
      return trial.run(codeRun(code, { secrets }), () => expect(places).toEqual([]), {
        signal: cancel.signal,
        answers: {
          print: () => {
            places.push(
              ...filesWith(secret, trial.bait.facts.temporary),
              ...allEnvironments().filter((text) => text.includes(secret)),
            );
            cancel.abort();
          },
        },
      });
    });

    it("are not visible to another run", async () => {
      const keep =
        "import runtime\ndef main():\n    runtime.kept = runtime.secret('API_KEY')\n    open('note', 'w').write(runtime.kept)\n";
      await trial.run(codeRun(keep, { secrets }), ({ end }) => expect(end.type).toBe("returned"));
      const look = python`
        import gc, os, runtime

        def main():
            found = [str(text) for text in gc.get_objects() if isinstance(text, dict) and text.get("API_KEY", "API_KEY") != "API_KEY" and text is not globals()]
            try:
                found.append(runtime.secret("API_KEY"))
            except Exception:
                pass
            return found + os.listdir(".") + [getattr(runtime, "kept", "")]
      `;
      for (let round = 0; round < 3; round++) {
        await trial.run(codeRun(look), ({ end }) => expect(end).toMatchObject({ type: "returned", value: [""] }));
      }
    });

    it("cannot be read by child processes", () => {
      if (!trial.tier.processes) return undefined;
      const code = python`
        import os, subprocess, sys

        show = """if True:
            import sys
            for path in sys.argv[1:]:
                try:
                    print(open(path).read())
                except OSError:
                    print("refused")
        """

        def main():
            text = subprocess.run([sys.executable, "-I", "-S", "-c", show, "/proc/self/environ", "/proc/%d/environ" % os.getpid(), "/proc/%d/cmdline" % os.getpid()],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            return [len(text) > 0, "secret-" in text.decode("latin-1")]
      `;
      return trial.run(codeRun(code, { secrets }), ({ end }) =>
        expect(end).toMatchObject({ type: "returned", value: [true, false] }),
      );
    });
  });
}

function filesWith(text: string, directory: string): string[] {
  let found: string[] = [];
  try {
    for (const name of readdirSync(directory)) {
      const file = path.join(directory, name);
      if (statSync(file).isDirectory()) found = [...found, ...filesWith(text, file)];
      else if (readFileSync(file, "latin1").includes(text)) found.push(file);
    }
  } catch {
    // The process has exited, or its files are not readable for us, and so not for other users either.
  }
  return found;
}
