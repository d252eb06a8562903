import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../../../src/runtime/sandbox.ts";
import { codeRun, python } from "./runs.ts";
import { samples } from "./samples.ts";
import type { Trial } from "./tier.ts";

/** Results and exceptions of a program. */
export function describeResults(trial: Trial): void {
  const returns = (name: string, code: string, value: Json, more: { args?: Json; entrypoint?: string } = {}): void => {
    it(name, () => trial.run(codeRun(code, more), ({ end }) => expect(end).toMatchObject({ type: "returned", value })));
  };
  const raises = (
    name: string,
    code: string,
    type: string,
    message: RegExp,
    more: { entrypoint?: string } = {},
  ): void => {
    it(name, () =>
      trial.run(codeRun(code, more), ({ end }) => {
        expect(end).toMatchObject({ type: "raised", error: { message: expect.stringMatching(message) as string } });
        expect((end as { error: { type: string } }).error.type).toMatch(new RegExp(`^(${type})$`));
      }),
    );
  };

  describe("results", trial.together, () => {
    it("preserve any JSON", () => {
      const values = fc.sample(fc.jsonValue({ depthSize: "large" }), { numRuns: 300, seed: 5 });
      const args = JSON.parse(JSON.stringify({ values })) as Json;
      return trial.run(codeRun(samples.echoes, { args }), ({ end }) => {
        expect(end).toMatchObject({ type: "returned" });
        expect(JSON.stringify(sorted((end as { value: Json }).value))).toBe(JSON.stringify(sorted(args)));
      });
    });

    returns("come from an entrypoint without parameters, which gets no arguments", "def main(): return 1", 1, {
      args: { a: 1 },
    });
    returns("come from an async entrypoint, which is awaited", "async def main(args): return args['a']", 1, {
      args: { a: 1 },
    });
    returns("come from the named entrypoint", "def other(): return 2\ndef main(): return 1", 2, {
      entrypoint: "other",
    });
    returns("turn NaN and Infinity into null", 'def main(): return [float("nan"), float("inf"), -float("inf"), 1.5]', [
      null,
      null,
      null,
      1.5,
    ]);
    returns("turn tuples into arrays and keys into strings", "def main(): return {2: (1, 2), True: None}", {
      "2": [1, 2],
      true: null,
    });
    returns("are null if nothing is returned", "def main(): pass", null);
    returns("may be as large as half the limit", "def main(): return 'x' * 2_000_000", "x".repeat(2_000_000));

    it("can be an envelope", () =>
      trial.run(
        codeRun("def main(): return {'summary': 'short', 'output': {'n': 1}, 'output_blobs': ['blob:a']}"),
        ({ end }) =>
          expect(end).toEqual({ type: "returned", value: { n: 1 }, summary: "short", outputBlobs: ["blob:a"] }),
      ));

    it("can be created by runtime.result", () => {
      const code = python`
        import runtime

        def main():
            return runtime.result(output=[1], summary="one", output_blobs=[])
      `;
      return trial.run(codeRun(code), ({ end }) =>
        expect(end).toMatchObject({ type: "returned", value: [1], summary: "one" }),
      );
    });

    it("include the location of an exception in the program", () =>
      trial.run(codeRun("def main():\n    x = 1\n    raise KeyError('missing')\n"), ({ end }) => {
        expect(end).toMatchObject({ type: "raised", error: { type: "KeyError" } });
        expect(JSON.stringify(end)).toMatch(/line.{0,5}3/);
      }));

    raises("name a syntax error", "def main(:\n", "SyntaxError", /./);
    raises("name a missing entrypoint", "def other(): pass", "EntrypointError|AttributeError|NameError", /main/);
    raises("name a module that is missing", "import not_there\ndef main(): pass", "ModuleNotFoundError", /not_there/);
    raises(
      "name the location of a value that is not JSON",
      "def main(): return {'rows': [1, {'x': b'1'}]}",
      "OutputNotSerializableError",
      /rows\[1\]\.x/,
    );
    raises(
      "are refused if nested too deeply",
      "def main():\n    x = []\n    for _ in range(5000): x = [x]\n    return x",
      "OutputLimitError",
      /deep|depth|nest/i,
    );
    raises(
      "are refused if they contain themselves",
      "def main():\n    x = []\n    x.append(x)\n    return x",
      "OutputLimitError|OutputNotSerializableError|ValueError",
      /./,
    );
    raises(
      "refuse more than a million values",
      "def main(): return [0] * 1_000_001",
      "OutputLimitError",
      /more than 1000000/,
    );
    raises("refuse what is too large", "def main(): return 'x' * 5_000_000", "OutputLimitError", /./);
    raises(
      "handle an exception that cannot be printed",
      "class E(Exception):\n    def __str__(self): raise ValueError\ndef main(): raise E",
      "E",
      /.*/,
    );
    raises("survive endless recursion", "def main(): return main()", "RecursionError", /./);
    raises("handle a BaseException", "class E(BaseException): pass\ndef main(): raise E('low')", "E", /low/);
    raises("survive an interruption", "def main(): raise KeyboardInterrupt", "KeyboardInterrupt", /.*/);

    it.each([
      ["a lone surrogate", "'\\ud800'"],
      ["a key with a lone surrogate", "{'\\udfff': 1}"],
      ["an enormous number", "10 ** 5000"],
      ["a number beyond every float", "1e400"],
      ["a key called __proto__", "{'__proto__': {'polluted': True}, 'constructor': 1}"],
      ["a string with every control character", "''.join(map(chr, range(32)))"],
      ["the exit of the program", "__import__('sys').exit(0)"],
    ])("handle %s", (_what, value) =>
      trial.run(codeRun(`def main(): return ${value}`), ({ end }) => {
        expect(["returned", "raised"]).toContain(end.type);
        expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
      }),
    );

    it("are separate from printed output, which keeps its order", () => {
      const code = python`
        import sys

        def main():
            print("one")
            print("two", file=sys.stderr)
            sys.stdout.write("three without a line's end")
            return "the result"
      `;
      return trial.run(codeRun(code), ({ end, host }) => {
        expect(end).toMatchObject({ type: "returned", value: "the result" });
        expect(host.stdout + host.stderr).toBe("one\ntwo\nthree without a line's end");
      });
    });

    it("are streamed line by line while the program runs", () => {
      const cancel = new AbortController();
      const code = python`
        import time

        def main():
            print("first")
            time.sleep(600)
      `;
      return trial.run(
        codeRun(code),
        ({ end, host }) => {
          expect(end).toEqual({ type: "cancelled" });
          expect(host.stdout).toBe("first\n");
        },
        { signal: cancel.signal, answers: { print: () => cancel.abort() } },
      );
    });
  });
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => [key, sorted(item)]);
}
