import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { toVisible } from "../../parts/foreign-text.tsx";
import { type SkillServer, type SourceError, toSourceError } from "../../source/skill-source.ts";
import { canAct, useBrowser } from "../../state/browser.ts";
import { CopyBox, toToolArguments } from "./copy-box.tsx";
import { DropZone, FileLine, sendFile } from "./form/file-fields.tsx";
import { FormField, InputField, ScriptFields } from "./form/input-field.tsx";
import { RunFailureAlert } from "./result/run-outcome.tsx";
import { RunPanel } from "./result/run-panel.tsx";
import { RunNotices } from "./run-notices.tsx";
import { type PageRunState, isOver } from "./state/page-run-state.ts";
import {
  readForm,
  showSkillInForm,
  targetsOf,
  type RunFormState as Form,
  type RunnableSkill,
} from "./state/run-form.ts";

export interface RunFormProps {
  readonly form: Form;
  readonly runs: PageRunState;
  /** The version that is on disk now. */
  readonly latest: RunnableSkill;
  /** The version that the form was filled in for. */
  readonly shown: RunnableSkill;
}

export function RunForm({ form, runs, latest, shown }: RunFormProps): JSX.Element {
  const { source, announcement } = useBrowser();
  const element = useRef<HTMLFormElement>(null);
  const [isStarting, setIsStarting] = useState(false);
  const [refusal, setRefusal] = useState<SourceError | undefined>(undefined);
  const view = runs.last(shown.row.id).value;
  const { runDraft, problems } = readForm(form);
  const isStale = latest.digest !== shown.digest;
  const isRunning = isStarting || (view !== undefined && !isOver(view.status));
  const targets = targetsOf(shown);

  const touch = (): void => {
    form.isTouched.value = true;
  };
  const showLatest = (): void => {
    showSkillInForm(form, latest);
    setRefusal(undefined);
    announcement.value = "The form is for the version that is on disk now.";
  };
  const run = async (): Promise<void> => {
    form.isTried.value = true;
    if (problems.size > 0) {
      announcement.value = `${problems.size} field${problems.size === 1 ? " is" : "s are"} not filled in correctly.`;
      requestAnimationFrame(() => element.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      return;
    }
    const { digest, nonce } = shown;
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
      <RunNotices latest={latest} isStale={isStale} onShowLatest={showLatest} />
      <form
        ref={element}
        class="run-form"
        aria-label={`Run ${toVisible(shown.row.name, 128)}`}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        {targets.length > 1 && <Target form={form} targets={targets} onTouch={touch} />}
        <Fields form={form} shown={shown} problems={problems} onTouch={touch} />
        <MoreFields form={form} problems={problems} onTouch={touch} />
        <div class="run-actions">
          <button
            type="submit"
            class="button primary"
            disabled={!canAct(source) || shown.nonce === undefined || isRunning || isStale}
          >
            {isRunning ? "Running…" : "Run"}
          </button>
          <span class="muted">{toolOf(shown, form.target.value)}</span>
        </div>
      </form>
      {refusal !== undefined && (
        <div role="alert">
          <RunFailureAlert type={refusal.code} message={refusal.message} hint={refusal.hint} />
        </div>
      )}
      {view !== undefined && <RunPanel view={view} onCancel={() => void runs.cancel(view).catch(() => undefined)} />}
      <CopyBox runDraft={runDraft} />
    </div>
  );
}

function toolOf({ digest = "" }: RunnableSkill, target: string): string {
  const what = target === "" ? "its entrypoint" : target;
  return `Runs ${what}, of exactly these files: ${digest.replace("sha256:", "").slice(0, 12)}.`;
}

function Target({
  form,
  targets,
  onTouch,
}: {
  readonly form: Form;
  readonly targets: readonly string[];
  readonly onTouch: () => void;
}): JSX.Element {
  return (
    <FormField name="What to run">
      {(ids) => (
        <select
          {...ids}
          value={form.target.value}
          onChange={({ currentTarget }) => {
            form.target.value = currentTarget.value;
            onTouch();
          }}
        >
          {targets.map((target) => (
            <option key={target} value={target}>
              {target === "" ? "Its entrypoint" : toVisible(target, 200)}
            </option>
          ))}
        </select>
      )}
    </FormField>
  );
}

interface FieldsProps {
  readonly form: Form;
  readonly problems: ReadonlyMap<string, string>;
  readonly onTouch: () => void;
}

function Fields({
  form,
  shown,
  problems,
  onTouch,
}: FieldsProps & { readonly shown: RunnableSkill }): JSX.Element | null {
  const { server } = useBrowser().source;
  const isTried = form.isTried.value;
  if (form.target.value !== "")
    return <ScriptFields form={form} problem={isTried ? problems.get(":words") : undefined} onTouch={onTouch} />;
  const inputs = Object.entries(shown.inputs);
  if (inputs.length === 0) return <p class="muted">It takes no arguments.</p>;
  if (server === undefined) return null;
  return (
    <>
      {inputs.map(([name, input]) => {
        const draft = form.drafts.value[name] ?? "";
        return (
          <InputField
            key={name}
            name={name}
            input={input}
            draft={draft}
            problem={
              isTried || (draft !== "" && input.type !== "object" && input.type !== "array")
                ? problems.get(name)
                : undefined
            }
            server={server}
            file={form.chosen.value[name]}
            onFile={(file) => (form.chosen.value = { ...form.chosen.value, [name]: file })}
            onChange={(text) => {
              form.drafts.value = { ...form.drafts.value, [name]: text };
              onTouch();
            }}
          />
        );
      })}
    </>
  );
}

/** What every run may be given besides its arguments. */
function MoreFields({ form, problems, onTouch }: FieldsProps): JSX.Element {
  const { server } = useBrowser().source;
  return (
    <details class="more-fields" open={form.files.value.length > 0 || form.timeout.value !== ""}>
      <summary>Files and time</summary>
      <fieldset>
        <legend>Files for it to read</legend>
        <DropZone label="Choose files" isMany onFiles={(files) => server && addFiles(form, server, files, onTouch)} />
        {form.files.value.map((file) => (
          <FileLine
            key={file.key}
            file={file}
            onRemove={() => (form.files.value = form.files.value.filter(({ key }) => key !== file.key))}
          />
        ))}
        {form.isTried.value && problems.has(":files") && <p class="field-problem danger">{problems.get(":files")}</p>}
        <p class="help">They are at /blobs/ID in the sandbox, by the id of their blob.</p>
      </fieldset>
      <FormField
        name="Time"
        takes="seconds"
        problem={problems.get(":timeout")}
        help="Left empty: 30 seconds. At most 600."
      >
        {(ids) => (
          <input
            {...ids}
            type="text"
            inputMode="decimal"
            autocomplete="off"
            value={form.timeout.value}
            onInput={({ currentTarget }) => {
              form.timeout.value = currentTarget.value;
              onTouch();
            }}
          />
        )}
      </FormField>
    </details>
  );
}

/** The number of files that a run can mount. */
const mostFiles = 64;

function addFiles(form: Form, server: SkillServer, files: readonly File[], onTouch: () => void): void {
  onTouch();
  for (const file of files.slice(0, mostFiles - form.files.value.length))
    sendFile(server, file, (sent) => {
      const others = form.files.value;
      form.files.value = others.some(({ key }) => key === sent.key)
        ? others.map((other) => (other.key === sent.key ? sent : other))
        : sent.id === undefined
          ? [...others, sent]
          : others;
    });
}
