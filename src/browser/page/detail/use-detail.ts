import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { DetailSection } from "../../wire/skills.ts";
import { type KnownDetail, type SourceError, toSourceError } from "../source/skill-source.ts";
import { useBrowser } from "../state/browser.ts";

/** The state of reading a skill. `detail` is absent while it is read for the first time. */
interface DetailState {
  readonly detail?: KnownDetail;
  /** The sections that were read; all of them are of one digest. */
  readonly sections: ReadonlySet<DetailSection>;
  /** Whether there is no such skill, or no longer; `detail` is then its last one, if any. */
  readonly isGone: boolean;
  /** Why something could not be read. */
  readonly error?: SourceError | undefined;
}

/**
 * Reads the overview of a skill and the sections of the open tab, and reads them again whenever the skill's row or files change. The last
 * detail stays until the new one arrives. `reload` reads now and resolves with the new detail.
 */
export function useDetail(
  id: string,
  sections: readonly DetailSection[],
): { readonly reading: DetailState; readonly reload: () => Promise<KnownDetail | undefined> } {
  const { source } = useBrowser();
  const [reading, setReading] = useState<DetailState>({ sections: new Set(), isGone: false });
  const known = useRef(reading);
  const latest = useRef<AbortController>(undefined);
  const reply = useRef<Promise<KnownDetail | undefined>>(undefined);
  /** The sections of the open tab for which a reload runs. */
  const reloadingFor = useRef<readonly DetailSection[]>(undefined);
  const wanted = useRef(sections);
  wanted.current = sections;

  const show = (changes: Partial<DetailState>): void => {
    known.current = { ...known.current, ...changes };
    setReading(known.current);
  };
  const reload = (): Promise<KnownDetail | undefined> => {
    reloadingFor.current = wanted.current;
    return (reply.current = read([...new Set<DetailSection>(["overview", ...wanted.current])], undefined));
  };
  /** Reads sections and adds them to `before` if that has the same digest, else reloads. */
  const read = async (
    asked: readonly DetailSection[],
    before: DetailState | undefined,
  ): Promise<KnownDetail | undefined> => {
    latest.current?.abort();
    const mine = (latest.current = new AbortController());
    try {
      const found = await source.detail(id, asked, mine.signal);
      if (mine.signal.aborted) return found;
      if (found !== undefined && before !== undefined && found.digest !== before.detail?.digest) return await reload();
      reloadingFor.current = undefined;
      const sections = new Set([...(before?.sections ?? []), ...asked]);
      if (found === undefined) show({ isGone: true });
      else show({ detail: { ...before?.detail, ...found }, sections, isGone: false, error: undefined });
      return found;
    } catch (error) {
      // A later reading has begun, because of a change on disk, and answers for this one.
      if (mine.signal.aborted) return latest.current === mine ? undefined : reply.current;
      // The last detail stays, because it is worth more than an error; the connection line says that the server does not answer.
      show({ error: toSourceError(error) });
      return undefined;
    }
  };

  const row = useRef<unknown>(undefined);
  useSignalEffect(() => {
    const listed = source.list.value?.skills.find((one) => one.id === id);
    if (latest.current !== undefined && listed === row.current) return;
    row.current = listed;
    const isGone = listed === undefined && source.list.value !== undefined && latest.current !== undefined;
    if (!isGone) void reload();
    else if (known.current.detail !== undefined) show({ isGone });
  });
  useEffect(() => {
    const { current } = known;
    const missing = sections.filter((section) => !current.sections.has(section));
    if (reloadingFor.current === sections) return;
    if (reloadingFor.current !== undefined) void reload();
    else if (current.detail !== undefined && missing.length > 0) void read(missing, current);
  }, [sections]);
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
