import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { SourceError, type KnownDetail } from "../source/skill-source.ts";
import { useBrowser } from "../state/browser.ts";

export type DetailState =
  | { readonly status: "reading" }
  | { readonly status: "missing" }
  | { readonly status: "failed"; readonly error: SourceError }
  /** `isRemoved`: the last that was known of a skill that is gone. */
  | { readonly status: "known"; readonly detail: KnownDetail; readonly isRemoved: boolean };

/**
 * Everything known about a skill, read again whenever its row changes; what is shown stays until the new is there. `reload` reads it now and
 * resolves with what it then knows.
 */
export function useDetail(id: string): {
  readonly reading: DetailState;
  readonly reload: () => Promise<KnownDetail | undefined>;
} {
  const { source } = useBrowser();
  const [reading, setReading] = useState<DetailState>({ status: "reading" });
  const latest = useRef<AbortController>(undefined);
  const reply = useRef<Promise<KnownDetail | undefined>>(undefined);

  const reload = (): Promise<KnownDetail | undefined> => (reply.current = read());
  const read = async (): Promise<KnownDetail | undefined> => {
    latest.current?.abort();
    const mine = (latest.current = new AbortController());
    try {
      const detail = await source.detail(id, mine.signal);
      if (mine.signal.aborted) return detail;
      setReading((before) => {
        if (detail !== undefined) return { status: "known", detail, isRemoved: false };
        return before.status === "known" ? { ...before, isRemoved: true } : { status: "missing" };
      });
      return detail;
    } catch (error) {
      // A change on disk began a later reading, which answers for this one.
      if (mine.signal.aborted) return latest.current === mine ? undefined : reply.current;
      const known = error instanceof SourceError ? error : new SourceError("INTERNAL", String(error));
      // What was read before is still worth more than an error; the line at the top says that the server does not answer.
      setReading((before) => (before.status === "known" ? before : { status: "failed", error: known }));
      return undefined;
    }
  };

  const row = useRef<unknown>(undefined);
  useSignalEffect(() => {
    const listed = source.list.value?.skills.find((one) => one.id === id);
    if (latest.current !== undefined && listed === row.current) return;
    row.current = listed;
    const isGone = listed === undefined && source.list.value !== undefined && latest.current !== undefined;
    if (isGone) setReading((before) => (before.status === "known" ? { ...before, isRemoved: true } : before));
    else void reload();
  });
  useEffect(
    () =>
      source.server?.on("skill", (touched) => {
        if (touched.id === id) void reload();
      }),
    [source, id],
  );
  useEffect(() => () => latest.current?.abort(), []);
  return { reading, reload };
}
