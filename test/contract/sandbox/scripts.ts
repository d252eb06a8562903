import { describe, expect, it } from "vitest";
import { python, scriptRun } from "./runs.ts";
import type { Trial } from "./tier.ts";

/** Files of Agent Skills, run by their language. */
export function describeScripts(trial: Trial): void {
  const argv = ["--in", "x y", "", "*", "$(id)", "line\nbreak", "ä"];
  const stdin = "from outside\n".repeat(10_000);

  describe("scripts", trial.together, () => {
    it("in bash have the usual tools, and no others", () => {
      const text = python`
        set -e
        printf 'b 2\na 1\n' > list
        sort list | awk '{ print $2 $1 }' | sed 's/1a/x/' | grep -v 2 | tr x y | tee copy | wc -l
        find . -name copy | xargs cat | head -1 | cut -c1
        tar -cf all.tar list && gzip all.tar && ls all.tar.gz && basename /a/b && date +%Y | wc -c && python3 -c 'print(5)'
        for name in git gcc cc ld gdb docker make apt-get dpkg strace perf su sudo mount ssh; do
          if command -v $name; then exit 9; fi
        done
      `;
      return trial.run(scriptRun("bash", text), ({ end, host }) => {
        expect(host.stdout.replaceAll(/ +/g, "")).toBe("1\ny\nall.tar.gz\nb\n5\n5\n");
        expect(end).toEqual({ type: "exited", exitCode: 0 });
      });
    });

    it.each([
      [
        "python",
        python`
          import os, sys
          import beside
          print(sys.argv[1:] == ["--in", "x y", "", "*", "$(id)", "line\nbreak", "ä"], os.getcwd(), beside.value)
          print(len(sys.stdin.read()), file=sys.stderr)
          open("/output/made", "w").write("made")
          sys.exit(3)
        `,
        "True /workspace 7\n",
      ],
      [
        "bash",
        python`
          [ "$#" = 7 ] && [ "$2" = "x y" ] && [ "$5" = '$(id)' ] && [ "$6" = $'line\nbreak' ] && pwd
          wc -c >&2
          echo -n made > /output/made
          exit 3
        `,
        "/workspace\n",
      ],
      [
        "node",
        python`
          import { readFileSync, writeFileSync } from "node:fs";
          console.log(process.argv.length === 9 && process.argv[7] === "line\nbreak", process.cwd());
          console.error(readFileSync(0).length);
          writeFileSync("/output/made", "made");
          process.exitCode = 3;
        `,
        "true /workspace\n",
      ],
    ] as const)("of %s get their arguments and input, and answer by their exit", (language, text, printed) => {
      const beside = { "scripts/beside.py": "value = 7\n" };
      const run = scriptRun(language, text, { argv, stdin, beside });
      return trial.run(run, ({ end, host }) => {
        expect({ end, stdout: host.stdout, stderr: host.stderr.trim() }).toEqual({
          end: { type: "exited", exitCode: 3 },
          stdout: printed,
          stderr: String(stdin.length),
        });
        expect(host.outputs.get("made")?.toString()).toBe("made");
      });
    });

    it.each([
      ["python", "import sys\nprint(repr(sys.stdin.read()))", "''\n"],
      ["bash", "cat; echo end", "end\n"],
      ["node", "process.stdin.on('data', () => {}).on('end', () => console.log('end'))", "end\n"],
    ] as const)("of %s without input find its end", (language, text, stdout) =>
      trial.run(scriptRun(language, text), ({ end, host }) => {
        expect(end).toEqual({ type: "exited", exitCode: 0 });
        expect(host.stdout).toBe(stdout);
      }),
    );

    it.each([
      ["python", "import sys; sys.exit('no')", "no\n"],
      ["python", "raise ValueError('no')", "ValueError: no\n"],
      ["bash", "false", ""],
      ["node", "throw new Error('no')", "Error: no"],
    ] as const)("of %s that fail exit with 1: %s", (language, text, stderr) =>
      trial.run(scriptRun(language, text), ({ end, host }) => {
        expect(end).toEqual({ type: "exited", exitCode: 1 });
        expect(host.stderr).toContain(stderr);
      }),
    );

    it("killed by a signal have the exit code of shells", () =>
      trial.run(scriptRun("bash", "kill -9 $$"), ({ end }) => expect(end).toEqual({ type: "exited", exitCode: 137 })));

    it("can leave their input unread", () =>
      trial.run(scriptRun("bash", "exit 0", { stdin: "x".repeat(1_000_000) }), ({ end }) =>
        expect(end).toEqual({ type: "exited", exitCode: 0 }),
      ));

    it("have no environment of the host", () =>
      trial.run(scriptRun("bash", "env; ls /skills/scripted/scripts"), ({ end, host }) => {
        expect(end).toEqual({ type: "exited", exitCode: 0 });
        expect(host.stdout).not.toMatch(/^(ACP|npm_|NODE|VITEST|SSH|XDG|USER|PYTHONPATH)/m);
        expect(host.stdout).toContain("it.sh");
      }));

    it.each([
      ["python", "while True: pass"],
      ["bash", "trap '' TERM INT HUP; while :; do :; done"],
      ["node", "process.on('SIGTERM', () => {}); for (;;);"],
    ] as const)("of %s that do not end are ended", (language, text) =>
      trial.run(scriptRun(language, text, { limits: { timeoutMs: 1200 } }), ({ end }) =>
        expect(end).toEqual({ type: "limit", limit: "timeout" }),
      ),
    );
  });
}
