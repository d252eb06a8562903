import { describe, expect, it } from "vitest";
import type { Json } from "../../../src/runtime/sandbox.ts";
import { blobOf, codeRun, python, skillOf } from "./runs.ts";
import type { Trial } from "./tier.ts";

const skills = [
  skillOf(
    "victim",
    { "main.py": "import near\ndef main(): return near.who\n", "near.py": "who = 'near'\n" },
    "main.py",
  ),
];
const blobs = [blobOf("blob:victim", "unchanged")];

const poison = python`
  import builtins, gc, json, os, random, sys, tempfile

  def everywhere():
      names = ("sitecustomize.py", "usercustomize.py", "json.py", "skills.py", "runtime.py", ".pythonrc", "poison.pth", "main.py",
               "near.py", "__pycache__/near.cpython-311.pyc", ".bashrc", ".profile", "poisoned")
      places = ["/workspace", "/output", "/tmp", tempfile.gettempdir(), "/dev/shm", "/var/tmp", "/inside", "/skills", "/skills/victim",
                "/blobs", os.path.expanduser("~"), "/etc", "/run", "/", *sys.path]
      for place in places:
          for name in names:
              path = "%s/%s" % (place or ".", name)
              try:
                  os.makedirs(os.path.dirname(path), exist_ok=True)
                  with open(path, "w") as file:
                      file.write("raise SystemExit('poisoned')\n")
              except (OSError, ValueError):
                  pass

  def main(args):
      if args.get("look"):
          return look()
      everywhere()
      for name, value in {"PYTHONSTARTUP": "/tmp/poisoned", "LD_PRELOAD": "/tmp/poisoned", "PYTHONPATH": "/tmp"}.items():
          os.environ[name] = value
      try:
          import shared_by_runs
      except ImportError:
          sys.modules["shared_by_runs"] = sys
      sys.path.insert(0, "/tmp")
      sys.meta_path.insert(0, type("Finder", (), {"find_spec": staticmethod(lambda *a: None), "poison": True}))
      builtins.poisoned = True
      json.dumps = json.loads = lambda *a, **k: "poisoned"
      builtins.open = lambda *a, **k: None
      random.seed(1)
      os.umask(0o777)
      return "poisoned"

  def look():
      found = []
      for place in ("/workspace", "/output", "/tmp", "/dev/shm", "/var/tmp", tempfile.gettempdir()):
          try:
              found += [place + "/" + name for name in os.listdir(place)]
          except OSError:
              pass
      found += [name for name in ("PYTHONSTARTUP", "LD_PRELOAD", "PYTHONPATH") if name in os.environ]
      found += ["module"] if "shared_by_runs" in sys.modules else []
      found += ["path"] if "/tmp" in sys.path else []
      found += ["finder"] if any(getattr(finder, "poison", False) for finder in sys.meta_path) else []
      found += ["builtin"] if hasattr(builtins, "poisoned") else []
      found += ["json"] if json.dumps([1]) != "[1]" else []
      from skills.victim import main as victim
      with open("/blobs/victim") as file:
          return [found, victim(), file.read()]
`;

/** No state passes from one run to another, also with prepared sandboxes. */
export function describePoisoning(trial: Trial): void {
  describe("a later run", () => {
    it("has no files, modules or interpreter state of earlier runs", async () => {
      const given = { skills, blobs };
      for (let round = 0; round < 3; round++) {
        await trial.run(codeRun(poison, { ...given, args: {} }), ({ end }) => {
          expect(["returned", "raised", "crashed"]).toContain(end.type);
        });
      }
      for (let round = 0; round < 4; round++) {
        await trial.run(codeRun(poison, { ...given, args: { look: true } }), ({ end }) =>
          expect(end).toMatchObject({ type: "returned", value: [[], "near", "unchanged"] }),
        );
      }
    });

    it("has no skills, blobs, arguments or secrets of earlier runs", async () => {
      const code = python`
        import gc, os

        def main(args):
            return [sorted(os.listdir("/skills")), sorted(os.listdir("/blobs")), args]
      `;
      await trial.run(codeRun(code, { skills, blobs, args: { of: "the first" } }), ({ end }) =>
        expect(end).toMatchObject({
          type: "returned",
          value: [["victim"], ["blob:victim", "victim"], { of: "the first" }],
        }),
      );
      for (let round = 0; round < 3; round++) {
        await trial.run(codeRun(code, { args: { of: "another" } }), ({ end }) =>
          expect(end).toMatchObject({ type: "returned", value: [[], [], { of: "another" }] }),
        );
      }
    });

    it("does not share random numbers with earlier runs", async () => {
      const code = python`
        import os, random, uuid

        def main():
            return [random.random(), hash("a text"), os.urandom(8).hex(), str(uuid.uuid4()), random.getrandbits(64) % 2**52]
      `;
      const seen: Json[][] = [];
      for (let round = 0; round < 5; round++) {
        await trial.run(codeRun(code), ({ end }) => {
          expect(end.type).toBe("returned");
          seen.push((end as unknown as { value: Json[] }).value);
        });
      }
      if (seen.length === 0) return;
      for (const column of [0, 1, 2, 3, 4]) {
        expect(new Set(seen.map((row) => row[column])).size, `draws of kind ${column}`).toBe(seen.length);
      }
    });

    it("has no processes, sockets or shared memory of earlier runs", async () => {
      if (!trial.tier.processes) return;
      const before = python`
        import os, signal, socket

        def main(args):
            try:
                kept = socket.socket(socket.AF_UNIX)
                kept.bind("\0" + args["name"])
                kept.listen()
            except OSError:
                pass
            if os.fork() == 0:
                try:
                    os.setsid()
                except OSError:
                    pass
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                while True:
                    signal.pause()
            return "left"
      `;
      const after = python`
        import os, socket

        def main(args):
            try:
                one = socket.socket(socket.AF_UNIX)
                one.settimeout(2)
                one.connect("\0" + args["name"])
                return "met"
            except OSError:
                return "nothing"
      `;
      const args = { name: `${trial.bait.token}-run` };
      await trial.run(codeRun(before, { args }), ({ end }) => expect(["returned", "raised"]).toContain(end.type));
      for (let round = 0; round < 3; round++) {
        await trial.run(codeRun(after, { args }), ({ end }) =>
          expect(end).toMatchObject({ type: "returned", value: "nothing" }),
        );
      }
    });

    it("does not see a concurrent run", async () => {
      const code = python`
        import os, tempfile, time

        def main(args):
            for place in ("/workspace", "/output", tempfile.gettempdir()):
                with open(place + "/of-" + args["name"], "w") as file:
                    file.write(args["name"])
            time.sleep(0.3)
            return sorted(name for place in ("/workspace", "/output", tempfile.gettempdir()) for name in os.listdir(place) if name.startswith("of-"))
      `;
      await Promise.all(
        ["a", "b", "c"].map((name) =>
          trial.run(codeRun(code, { args: { name } }), ({ end, host }) => {
            expect(end).toMatchObject({ type: "returned", value: [`of-${name}`, `of-${name}`, `of-${name}`] });
            expect([...host.outputs.keys()]).toEqual([`of-${name}`]);
          }),
        ),
      );
    });
  });
}
