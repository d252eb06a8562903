/**
 * Runs `setup`, and dies at its n-th change of the file system. Arguments: a home directory, n, the arguments of `setup`.
 */
import { dieAtChange } from "../../../base/processes/die-at-change.js";

const [home = "", last = "", ...args] = process.argv.slice(2);
const main = new URL("../../../../dist/cli/main.js", import.meta.url);
process.env["HOME"] = home;
delete process.env["XDG_CONFIG_HOME"];
delete process.env["XDG_DATA_HOME"];
delete process.env["ACP_SKILLS_HOME"];
process.chdir(home);
process.argv = [process.execPath, main.pathname, "setup", ...args];
// Of a call that is not killed.
process.stderr.write = () => true;
await dieAtChange(Number(last));
await import(main.href);
