import { hasNothingToDo, type Settings } from "../../runtime/options.ts";
import type { ByteInterceptor, LineSinks } from "./intercept-bytes.ts";
import type { SkillService } from "../skill-service.ts";

/** The interceptor that was loaded, with the service that was opened for it. */
interface LoadedInterceptor {
  readonly intercept: (sinks: LineSinks) => ByteInterceptor;
  /** The service, which must be closed after the interceptor; undefined if there is nothing to do. */
  readonly service: SkillService | undefined;
}

/** The interceptor if there is nothing to do, for which no code is loaded. */
const transparent: ByteInterceptor = {
  passFromEditor: (block) => [block],
  passFromAgent: (block) => [block],
  editorLeft: () => undefined,
  close: () => undefined,
};

/** Loads the interceptor, which is much code, and opens the service. */
export async function loadInterceptor(settings: Settings): Promise<LoadedInterceptor> {
  if (hasNothingToDo(settings)) return { intercept: () => transparent, service: undefined };
  const [{ interceptBytes }, { openService }] = await Promise.all([
    import("./intercept-bytes.ts"),
    import("../remote-service.ts"),
  ]);
  const service = openService(settings);
  return { intercept: (sinks) => interceptBytes(service, settings, sinks), service };
}
