import { useEffect, useRef, useState } from "preact/hooks";
import type { AppliedPlan, Discovered, ScopeName, PlanRequest, SourcePlan } from "../../../wire/sources.ts";
import type { SkillServer } from "../../source/http-source.ts";
import { type SourceError, toSourceError } from "../../source/skill-source.ts";
import { useBrowser } from "../../state/browser.ts";
import { counted } from "../../../../base/text/code-points.ts";

export const scopeTitles: Readonly<Record<ScopeName, string>> = {
  project: "In this project",
  global: "For you, in every project",
};

type Doing = "discover" | "plan" | "apply";

/** The progress of the user from a source to its installed skills. */
interface InstallState {
  readonly doing?: Doing | undefined;
  /** Why the last step failed. Cleared by the next step. */
  readonly failed?: { readonly doing: Doing; readonly error: SourceError } | undefined;
  /** The source that was read, as the user wrote it, and its offer. */
  readonly found?: { readonly source: string; readonly offer: Discovered } | undefined;
  /** The plan that the user was shown, and the request that it is for. */
  readonly planned?: { readonly request: PlanRequest; readonly plan: SourcePlan } | undefined;
  readonly applied?: AppliedPlan | undefined;
}

/** The steps from a source to its installed skills, one at a time. */
export interface InstallFlow extends InstallState {
  readonly discover: (source: string) => void;
  readonly plan: (request: PlanRequest) => void;
  readonly apply: () => void;
  readonly discard: () => void;
  /** Stops the current step. */
  readonly stop: () => void;
}

/** `changed` is called when something was installed. */
export function useInstalling(changed: () => void): InstallFlow {
  const { source, announcement } = useBrowser();
  const { server } = source;
  const [state, setState] = useState<InstallState>({});
  const show = (changes: InstallState): void => setState((before) => ({ ...before, ...changes }));
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  const act = async (what: Doing, work: (server: SkillServer, signal: AbortSignal) => Promise<void>): Promise<void> => {
    // State changes take effect in the next rendering, and two clicks may come before that.
    if (server === undefined || running.current !== undefined) return;
    const own = new AbortController();
    running.current = own;
    show({ doing: what, failed: undefined, applied: undefined });
    try {
      await work(server, own.signal);
    } catch (error) {
      if (!own.signal.aborted) show({ failed: { doing: what, error: toSourceError(error) } });
    } finally {
      if (running.current === own) {
        running.current = undefined;
        show({ doing: undefined });
      }
    }
  };

  return {
    ...state,
    discover: (text) =>
      void act("discover", async (asked, signal) => {
        show({ planned: undefined });
        const offer = await asked.discover(text, signal);
        show({ found: { source: text, offer } });
        announcement.value = `${counted(offer.skills.length, "skill")} found.`;
      }),
    plan: (request) =>
      void act("plan", async (asked, signal) => {
        show({ planned: undefined });
        show({ planned: { request, plan: await asked.plan(request, signal) } });
      }),
    apply: () =>
      void act("apply", async (asked) => {
        if (state.planned === undefined) return;
        try {
          const result = await asked.apply(state.planned.plan);
          show({ planned: undefined, found: undefined, applied: result });
          announcement.value = appliedWords(result);
        } finally {
          // A failure may have come after some skills were installed.
          changed();
        }
      }),
    discard: () => show({ planned: undefined, failed: undefined }),
    stop: () => {
      running.current?.abort();
      running.current = undefined;
      show({ doing: undefined });
    },
  };
}

/** Says how many skills were installed, and that installing granted nothing. */
export function appliedWords({ done, directory }: AppliedPlan): string {
  return `Installed ${counted(done.length, "skill")} in ${directory}. Installing granted nothing.`;
}
