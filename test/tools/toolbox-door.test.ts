import { silentLog } from "../../src/log.ts";
import { toWireError } from "../../src/wire/error-table.ts";
import { describeDoors, doorSkills } from "../doors.ts";
import { openTools } from "./open-tools.ts";

describeDoors("of the toolbox itself", async () => {
  const { call } = await openTools(
    Object.fromEntries(Object.entries(doorSkills).map(([file, text]) => [`/skills/${file}`, text])),
  );
  return {
    call: (tool, args) =>
      call(tool, args).then(
        (result) => ({ result }),
        (error: unknown) => ({ error: toWireError(error, { log: silentLog, newErrorId: () => "err_0" }) }),
      ),
    close: () => Promise.resolve(),
  };
});
