// The floor of a wrapper: starts a command and pipes bytes, both ways.
import { spawn } from "node:child_process";

const [, , command = "", ...args] = process.argv;
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
process.stdin.pipe(child.stdin);
child.stdout.pipe(process.stdout);
