import { useEffect, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import { useBrowser } from "../state/browser.ts";
import type { SkillServer } from "../source/http-source.ts";
import { type ServerEvents, type SourceError, toSourceError } from "../source/skill-source.ts";
import { foreignText } from "./foreign-text.tsx";
import { Icon } from "./icon.tsx";

/** The last answer of the server, if there was one. It stays while a newer one is read, and when reading fails. */
interface Answered<Answer> {
  readonly answer: Answer | undefined;
  readonly error: SourceError | undefined;
  readonly readAgain: () => void;
}

/**
 * Reads an answer of the server. It is read again when `of` (the parameters of `read`) changes, after the connection was lost, and after
 * relevant events of `kind`.
 */
export function useAnswer<Answer, Kind extends keyof ServerEvents = never>(
  read: (server: SkillServer, signal: AbortSignal) => Promise<Answer>,
  of: readonly unknown[],
  kind?: Kind,
  isRelevant?: (event: ServerEvents[Kind]) => boolean,
): Answered<Answer> {
  const { server } = useBrowser().source;
  const [known, setKnown] = useState<Omit<Answered<Answer>, "readAgain">>({ answer: undefined, error: undefined });
  const readNow = useRef<() => void>(() => undefined);

  useEffect(() => {
    if (server === undefined) return;
    let ending = new AbortController();
    readNow.current = () => {
      ending.abort();
      ending = new AbortController();
      const { signal } = ending;
      read(server, signal).then(
        (answer) => signal.aborted || setKnown({ answer, error: undefined }),
        (error: unknown) => signal.aborted || setKnown((last) => ({ ...last, error: toSourceError(error) })),
      );
    };
    const readAgain = readNow.current;
    readAgain();
    const stops = [server.on("reconnected", readAgain)];
    if (kind !== undefined) stops.push(server.on(kind, (event) => isRelevant?.(event) !== false && readAgain()));
    return () => {
      ending.abort();
      for (const stop of stops) stop();
    };
  }, [server, ...of]);

  return { ...known, readAgain: () => readNow.current() };
}

/** Why something could not be read or done, and what helps. The message may quote text of skills and agents. */
export function SourceErrorAlert({ error }: { readonly error: SourceError | undefined }): JSX.Element | null {
  if (error === undefined) return null;
  return (
    <p class="failure" role="alert">
      <Icon name="alert" />
      <span>
        {foreignText(error.message, 1_000)} {error.hint !== undefined && foreignText(error.hint, 1_000)}
      </span>
    </p>
  );
}
