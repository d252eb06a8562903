import { hasNothingToDo, type Settings } from "../../runtime/options.ts";
import type { ByteInterceptor, LineSinks } from "./intercept-bytes.ts";

/** An interceptor with the service that it opened. */
interface Served {
  readonly interceptor: ByteInterceptor;
  /** Resolves when the service is closed. */
  readonly close: () => Promise<void>;
}

/** Used if there is nothing to do; nothing is loaded. */
const transparent: Served = {
  interceptor: {
    passFromEditor: (block) => [block],
    passFromAgent: (block) => [block],
    editorLeft: () => undefined,
    close: () => undefined,
  },
  close: () => Promise.resolve(),
};

/** Loads what intercepts, which is much code, and opens the service. */
export async function loadInterceptor(settings: Settings): Promise<(sinks: LineSinks) => Served> {
  if (hasNothingToDo(settings)) return () => transparent;
  const [{ interceptBytes }, { openService }] = await Promise.all([
    import("./intercept-bytes.ts"),
    import("../remote-service.ts"),
  ]);
  const service = openService(settings);
  return (sinks) => {
    const interceptor = interceptBytes(service, settings, sinks);
    return {
      interceptor,
      async close() {
        interceptor.close();
        await service.close();
      },
    };
  };
}
