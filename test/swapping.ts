import { spawn } from "node:child_process";
import { once } from "node:events";

/** Two names in one directory that are swapped atomically again and again. */
export interface Swapping {
  stop(): Promise<void>;
}

const program = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
a, b = (os.fsencode(path) for path in sys.argv[1:])
sys.stdout.write("swapping\\n")
sys.stdout.flush()
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1000):
        if libc.renameat2(-100, a, -100, b, 2) != 0:
            sys.exit(os.strerror(ctypes.get_errno()))
`;

/** Starts a process that swaps the names like an attacker. Linux only. */
export async function startSwapping(a: string, b: string): Promise<Swapping> {
  const child = spawn("python3", ["-I", "-S", "-c", program, a, b], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return {
    async stop() {
      const ended = once(child, "exit");
      if (child.exitCode !== null) throw new Error("The swapping ended before it was stopped.");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
