import type { JSX } from "preact";
import type { SkillDetail } from "../../../wire/skills.ts";
import { foreignText } from "../../components/foreign-text.tsx";
import { Icon } from "../../components/icon.tsx";
import type { MarkDisplay } from "../../components/state-mark.tsx";
import type { TabProps } from "../tabs.ts";

const displays: Readonly<Record<SkillDetail["license"]["status"], MarkDisplay>> = {
  declared: { icon: "check", tone: "good", words: "Declared in its frontmatter or manifest." },
  unknown: { icon: "question", tone: "warning", words: "Not recognised: read what it states and its license files." },
  unspecified: { icon: "question", tone: "muted", words: "It says nothing of a license: all rights are reserved." },
};

/** The tab of the skill's license, with links to the license files. */
export function LicenseTab({ detail: { license }, openTab }: TabProps): JSX.Element {
  const { status, license: name, declared, files } = license ?? { status: "unspecified", files: [] };
  const { icon, tone, words } = displays[status];
  return (
    <>
      <h3>License</h3>
      <ul class="cards">
        <li>
          <p class="title">{name === undefined ? "Not known" : foreignText(name)}</p>
          <p class={`mark wrap ${tone}`}>
            <Icon name={icon} />
            {words}
          </p>
          {name === undefined && declared !== undefined && <p>{foreignText(declared, 1_000)}</p>}
          {files.length > 0 && (
            <p>
              License files:{" "}
              {files.map((path, index) => (
                <>
                  {index > 0 && ", "}
                  <button key={path} type="button" class="link" onClick={() => openTab("files", path)}>
                    {foreignText(path)}
                  </button>
                </>
              ))}
            </p>
          )}
        </li>
      </ul>
    </>
  );
}
