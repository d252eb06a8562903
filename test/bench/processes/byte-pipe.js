// The floor of a wrapper: starts a command and pipes bytes in both directions.
import { spawn } from "node:child_process";

const [, , command = "", ...args] = process.argv;
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
process.stdin.pipe(child.stdin);
child.stdout.pipe(process.stdout);
