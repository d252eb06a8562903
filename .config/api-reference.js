// The text of docs/api.md. TypeDoc finds the exports, their members and their comments; types are shown as they are written.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import { Application, Converter, ReferenceReflection, ReflectionKind } from "typedoc";
import ts from "typescript";
import { firstLine, oneLine, signature, typesNamedBy } from "./api-syntax.js";

/** @typedef {import("typedoc").DeclarationReflection} Declared */

const root = fileURLToPath(new URL("..", import.meta.url)).replaceAll("\\", "/");
const entries = ["src/index.ts", "src/client/index.ts", "src/runtime/ports.ts"];
/** Types that are described elsewhere. @type {ReadonlyMap<string, string>} */
const elsewhere = new Map([
  ["Manifest", "../schema/skill.toml.json"],
  ["RuleCode", "../schema/README.md#rules"],
  ["RunResult", "../src/runtime/tools/README.md#results"],
  ["Tools", "../src/runtime/tools/README.md"],
]);
const introduction = `Made by \`npm run docs\` from the comments in the source. Each section says what its exports are for; [examples](../examples/README.md) show them at work.
\`acp-skills/client\` is for editors, needs no Node, and also has what \`acp-skills\` has for them. The element of \`acp-skills/browser\` has [a page of its own](../src/browser/README.md).
Properties are read-only. What an interface inherits is described where it comes from.`;

const { NoTruncation, InTypeAlias, MultilineObjectLiterals, UseAliasDefinedOutsideCurrentScope } = ts.TypeFormatFlags;
/** @type {ts.TypeFormatFlags} */
const inFull = NoTruncation | InTypeAlias | MultilineObjectLiterals | UseAliasDefinedOutsideCurrentScope;

/** @returns {Promise<string>} */
export async function apiReference() {
  const app = await Application.bootstrap({
    entryPoints: entries.map((file) => `${root}${file}`),
    tsconfig: `${root}.config/tsconfig.docs.json`,
    skipErrorChecking: true,
    excludeInternal: true,
    disableGit: true,
    disableSources: true,
    logLevel: "Error",
    sort: ["source-order"],
  });
  /** @type {import("typedoc").Context[]} */
  const contexts = [];
  app.converter.on(Converter.EVENT_RESOLVE_END, (context) => contexts.push(context));
  const project = await app.convert();
  const [context] = contexts;
  if (project === undefined || context === undefined) throw new Error("TypeDoc has read nothing.");
  return await format(pageOf(context, project), { ...(await resolveConfig(`${root}docs/api.md`)), parser: "markdown" });
}

/**
 * @param {import("typedoc").Context} context
 * @param {import("typedoc").ProjectReflection} project
 * @returns {string}
 */
function pageOf(context, project) {
  const checker = /** @type {ts.Program} */ (context.programs[0]).getTypeChecker();
  const modules = project.children ?? [];
  /** @type {Map<string, Declared>} */
  const exported = new Map();
  for (const child of modules.flatMap((module) => module.children ?? []))
    if (!(child instanceof ReferenceReflection)) exported.set(child.name, child);
  /** Types of ours that others name, and that are not exported. @type {Map<string, { text: string, words: string, see: string }>} */
  const unnamed = new Map();

  /** @param {import("typedoc").Reflection} reflection */
  const nodesOf = (reflection) => context.getSymbolFromReflection(reflection)?.declarations ?? [];

  /**
   * Links to the types that are named there.
   * @param {string} own
   * @param {readonly ts.Node[]} nodes
   * @returns {string}
   */
  function seeAlso(own, nodes) {
    const ours = typesNamedBy(nodes, checker).filter(
      ({ file, name }) => file.startsWith(`${root}src/`) && name !== own,
    );
    for (const { name, symbol, declaration } of ours) {
      if (exported.has(name) || elsewhere.has(name) || unnamed.has(name)) continue;
      const words = ts.displayPartsToString(symbol.getDocumentationComment(checker));
      const entry = { text: typeText(declaration), words, see: "" };
      unnamed.set(name, entry);
      entry.see = seeAlso(name, [declaration]);
    }
    const links = new Set(ours.map(({ name }) => `[${name}](${elsewhere.get(name) ?? anchorOf(name)})`));
    return links.size === 0 ? "" : `See ${[...links].join(", ")}.`;
  }

  /**
   * A type as it is written; where that names values, as the compiler reads it.
   * @param {ts.Declaration} node
   * @returns {string}
   */
  function typeText(node) {
    const text = node.getText().replace(/^export (?:const )?/, "");
    if (!ts.isTypeAliasDeclaration(node) || node.typeParameters || !/\b(?:typeof|keyof|z\.infer)\b/.test(text))
      return text;
    return `type ${node.name.text} = ${checker.typeToString(checker.getTypeAtLocation(node), undefined, inFull)};`;
  }

  /**
   * @param {string} name
   * @param {Declared} reflection
   */
  function sectionOf(name, reflection) {
    const nodes = nodesOf(reflection);
    if (!reflection.kindOf([ReflectionKind.Interface, ReflectionKind.Class])) {
      const isFunction = reflection.kind === ReflectionKind.Function;
      const [{ comment } = reflection] = reflection.signatures ?? [];
      return [
        `### ${name}`,
        code(nodes.map(isFunction ? signature : typeText)),
        wordsOf(comment),
        seeAlso(name, nodes),
      ];
    }
    const members = (reflection.children ?? []).filter((child) => !child.inheritedFrom && !child.name.startsWith("["));
    const lines = members.flatMap((member) =>
      nodesOf(member).map((node, at) => {
        const words = wordsOf(member.comment ?? member.signatures?.[at]?.comment).replace(/\s*\n\s*/g, " ");
        return `- \`${oneLine(node)}\`${words && `: ${words}`}`;
      }),
    );
    const heads = nodes.map(firstLine).filter(({ isPlain }) => !isPlain);
    const named = [...heads.flatMap(({ parts }) => parts), ...members.flatMap(nodesOf)];
    return [
      `### ${name}`,
      heads.length === 0 ? "" : code(heads.map(({ text }) => text)),
      wordsOf(reflection.comment),
      lines.join("\n"),
      seeAlso(name, named),
    ];
  }

  /** @type {Set<string>} */
  const seen = new Set();
  const groups = entries.flatMap((file) =>
    groupsOf(readFileSync(`${root}${file}`, "utf8")).map(({ names, ...group }) => {
      const fresh = names.filter((name) => exported.has(name) && !seen.has(name));
      fresh.forEach((name) => seen.add(name));
      return { ...group, names: fresh };
    }),
  );
  const listed = groups.filter(({ names }) => names.length > 0);
  const sections = listed.map(({ title, about, names }) => [
    ...[`## ${title}`, about],
    ...names.flatMap((name) => sectionOf(name, /** @type {Declared} */ (exported.get(name)))),
  ]);
  const others = Array.from(unnamed, ([name, { text, words, see }]) => [`### ${name}`, code([text]), words, see]);
  const contents = [...listed, { title: "Types without an export", names: [...unnamed.keys()] }].map(
    ({ title, names }) =>
      `- [${title}](${anchorOf(title)}): ${names.map((name) => `[${name}](${anchorOf(name)})`).join(", ")}`,
  );
  return [
    ...["# API", introduction, contents.join("\n"), ...sections.flat()],
    ...["## Types without an export", "Signatures above refer to these types.", ...others.flat()],
  ]
    .filter(Boolean)
    .join("\n\n");
}

/**
 * Exports are grouped by the comments of an entry point: `// For whom: what it is about.` What it declares itself is of its last group.
 * @param {string} text
 */
function groupsOf(text) {
  const groups = [...text.matchAll(/^\/\/ ([^:\n]+): (.)([^\n]+)\n((?:export [^;]+;\n)+)/gm)].map(
    ([, title = "", first = "", rest = "", exports = ""]) => ({
      title,
      about: first.toUpperCase() + rest,
      names: [...exports.matchAll(/\{([^}]+)\}/g)].flatMap(([, names = ""]) =>
        names.split(",").map((name) => name.trim()),
      ),
    }),
  );
  const declared = [...text.matchAll(/^export (?:interface|type|function|class) (\w+)/gm)].map(([, name = ""]) => name);
  groups.at(-1)?.names.unshift(...declared);
  return groups;
}

/** @param {string} heading */
function anchorOf(heading) {
  return `#${heading
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, "")
    .replaceAll(" ", "-")}`;
}

/** @param {readonly string[]} lines */
function code(lines) {
  return `\`\`\`ts\n${lines.join("\n")}\n\`\`\``;
}

/** @param {import("typedoc").Comment | undefined} comment */
function wordsOf(comment) {
  const parts = comment?.summary ?? [];
  return parts.map(({ kind, text }) => (kind === "inline-tag" ? `[${text}](${anchorOf(text)})` : text)).join("");
}
