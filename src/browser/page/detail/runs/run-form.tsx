import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { counted } from "../../../../base/text/code-points.ts";
import { toVisible } from "../../components/foreign-text.tsx";
import type { SkillServer } from "../../source/http-source.ts";
import { type SourceError, toSourceError } from "../../source/skill-source.ts";
import { canAct, useBrowser, useServer } from "../../state/browser.ts";
import { CopyBox, toToolArguments } from "./copy-box.tsx";
import { DropZone, FileLine, sendFile } from "./form/file-fields.tsx";
import { FormField, selectControl, TextField } from "./form/form-field.tsx";
import { InputField } from "./form/input-field.tsx";
import { runFailure } from "./result/run-outcome.tsx";
import { RunPanel } from "./result/run-panel.tsx";
import { runNotices } from "./run-notices.tsx";
import { isOver, pageRunStateOf } from "./state/page-run-state.ts";
import {
  readForm,
  showSkillInForm,
  splitWords,
  targetsOf,
  type RunFormState,
  type RunnableSkill,
} from "./state/run-form.ts";
import { Button } from "../../components/icon.tsx";

interface RunFormProps {
  readonly form: RunFormState;
  /** The version that is on disk now. */
  readonly latest: RunnableSkill;
  /** The version that the form was filled in for. */
  readonly shown: RunnableSkill;
}

export function RunForm({ form, latest, shown }: RunFormProps): JSX.Element {
  const { source, announcement } = useBrowser();
  const runs = pageRunStateOf(useServer());
  const element = useRef<HTMLFormElement>(null);
  const [isStarting, setIsStarting] = useState(false);
  const [refusal, setRefusal] = useState<SourceError>();
  const { digest, nonce, row } = shown;
  const view = runs.of(row.id).last.value;
  const { runDraft, problems } = readForm(form);
  const isStale = latest.digest !== digest;
  const isRunning = isStarting || (view !== undefined && !isOver(view.status));
  const targets = targetsOf(shown);
  const inputs = Object.entries(shown.inputs);
  const target = form.target.value;

  const showLatest = (): void => {
    showSkillInForm(form, latest);
    setRefusal(undefined);
    announcement.value = "The form is for the version that is on disk now.";
  };
  const run = async (): Promise<void> => {
    form.isTried.value = true;
    if (problems.size > 0) {
      announcement.value = `Not filled in correctly: ${counted(problems.size, "field")}.`;
      requestAnimationFrame(() => element.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      return;
    }
    if (digest === undefined || nonce === undefined || isRunning || isStale) return;
    setIsStarting(true);
    setRefusal(undefined);
    try {
      const { name: skill, ...asked } = toToolArguments(runDraft);
      await runs.start({ ...asked, skill: String(skill), digest, nonce });
      announcement.value = "The run was started.";
    } catch (error) {
      const failed = toSourceError(error);
      setRefusal(failed);
      announcement.value = `It was not run: ${failed.message}`;
    } finally {
      setIsStarting(false);
    }
  };

  return (
    <div class="run-tab">
      {runNotices(latest, source.server?.about.value, isStale ? showLatest : undefined)}
      <form
        ref={element}
        class="run-form"
        aria-label={`Run ${toVisible(row.name, 128)}`}
        noValidate
        onInput={() => (form.isTouched.value = true)}
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        {targets.length > 1 && (
          <FormField name="What to run">
            {(ids) => {
              const options = targets.map((one) => [one, one === "" ? "Its entrypoint" : one] as const);
              return selectControl(ids, target, options, (chosen) => (form.target.value = chosen));
            }}
          </FormField>
        )}
        {target !== "" && <ScriptFields {...{ form, problems }} />}
        {target === "" && inputs.length === 0 && <p class="muted">It takes no arguments.</p>}
        {target === "" &&
          inputs.map(([name, input]) => (
            <InputField key={name} {...{ form, name, input }} problem={problems.get(name)} />
          ))}
        <MoreFields {...{ form, problems }} />
        <div class="run-actions">
          <Button
            kind="primary"
            text={isRunning ? "Running…" : "Run"}
            disabled={!canAct(source) || nonce === undefined || isRunning || isStale}
          />
          <span class="muted">
            Runs {target === "" ? "its entrypoint" : target}, of exactly these files:{" "}
            {digest?.replace("sha256:", "").slice(0, 12)}.
          </span>
        </div>
      </form>
      {refusal !== undefined && <div role="alert">{runFailure(refusal.code, refusal.message, refusal.hint)}</div>}
      {view !== undefined && <RunPanel view={view} onCancel={() => void runs.cancel(view).catch(() => undefined)} />}
      <CopyBox runDraft={runDraft} />
    </div>
  );
}

interface FieldsProps extends Pick<RunFormProps, "form"> {
  readonly problems: ReadonlyMap<string, string>;
}

/** The arguments and the input of a script. */
function ScriptFields({ form: { words, stdin, isTried }, problems }: FieldsProps): JSX.Element {
  // An open quote is not a problem while the user types.
  const { words: passed = [] } = splitWords(words.value);
  return (
    <>
      <TextField
        name="Arguments"
        problem={isTried.value ? problems.get(":words") : undefined}
        help="Separated and quoted as in a shell. Nothing is expanded: $NAME, * and | are passed on as they are."
        class="mono"
        value={words.value}
        placeholder="--pages 1-3 'a file.txt'"
        onText={(text) => (words.value = text)}
      />
      {passed.length > 0 && (
        <ol class="words" aria-label="Arguments as they are passed">
          {passed.map((word, index) => (
            <li key={index} class="mono">
              {word === "" ? <span class="muted">empty</span> : <bdi>{toVisible(word, 300)}</bdi>}
            </li>
          ))}
        </ol>
      )}
      <TextField
        name="Standard input"
        class="mono"
        rows={3}
        value={stdin.value}
        onText={(text) => (stdin.value = text)}
      />
    </>
  );
}

/** The fields of every run besides its arguments: files and the time limit. */
function MoreFields({ form, problems }: FieldsProps): JSX.Element {
  const server = useServer();
  const { files, timeout, isTried } = form;
  return (
    <details class="more-fields" open={files.value.length > 0 || timeout.value !== ""}>
      <summary>Files and time</summary>
      <fieldset>
        <legend>Files for it to read</legend>
        <DropZone label="Choose files" isMany onFiles={(chosen) => addFiles(form, server, chosen)} />
        {files.value.map((file) => (
          <FileLine
            key={file.key}
            file={file}
            onRemove={() => (files.value = files.value.filter(({ key }) => key !== file.key))}
          />
        ))}
        {isTried.value && problems.has(":files") && <p class="field-problem danger">{problems.get(":files")}</p>}
        <p class="help">They are at /blobs/ID in the sandbox, by the id of their blob.</p>
      </fieldset>
      <TextField
        name="Time"
        takes="seconds"
        problem={problems.get(":timeout")}
        help="Left empty: 30 seconds. At most 600."
        inputMode="decimal"
        value={timeout.value}
        onText={(text) => (timeout.value = text)}
      />
    </details>
  );
}

/** The maximum number of files that a run can mount. */
const maxFiles = 64;

function addFiles({ files, isTouched }: RunFormState, server: SkillServer, chosen: readonly File[]): void {
  isTouched.value = true;
  for (const file of chosen.slice(0, maxFiles - files.value.length)) {
    let last: number | undefined;
    sendFile(server, file, (sent) => {
      const isListed = files.value.some(({ key }) => key === sent.key);
      if (isListed) files.value = files.value.map((other) => (other.key === sent.key ? sent : other));
      else if (last === undefined) files.value = [...files.value, sent];
      last = sent.key;
    });
  }
}
