import { silentLog } from "../../../src/base/log.ts";
import { toWireError } from "../../../src/wire/error-table.ts";
import { describeTransports, transportScript, transportSkills } from "../../transports.ts";
import { openRunner } from "../runs/open-runner.ts";

describeTransports("of the toolbox itself", async (project) => {
  const { call } = await openRunner(
    Object.fromEntries(Object.entries(transportSkills).map(([file, text]) => [`/skills/${file}`, text])),
    transportScript,
  );
  return {
    call: (tool, args) =>
      call(tool, args, { project }).then(
        (result) => ({ result }),
        (error: unknown) => ({ error: toWireError(error, { log: silentLog, newErrorId: () => "err_0" }) }),
      ),
    close: () => Promise.resolve(),
  };
});
