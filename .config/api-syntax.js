// Declarations as docs/api.md shows them.
import ts from "typescript";

/**
 * A function without its body.
 * @param {ts.Declaration} node
 */
export function signature(node) {
  const { body } = /** @type {ts.FunctionDeclaration} */ (node);
  const text = body === undefined ? node.getText() : node.getText().slice(0, body.getStart() - node.getStart());
  return `${text.replace(/^export (?:async )?/, "").trim()};`;
}

/**
 * A member without comments and line breaks.
 * @param {ts.Declaration} node
 */
export function oneLine(node) {
  return signature(node)
    .replace(/\/\*\*.*?\*\//gs, "")
    .replace(/^(?:override |readonly )+|;+$/g, "")
    .replace(/\s+/g, " ")
    .replaceAll("( ", "(")
    .replaceAll(", )", ")");
}

/**
 * The line that begins an interface or a class; `isPlain` if it says nothing but the name.
 * @param {ts.Declaration} node
 */
export function firstLine(node) {
  const { typeParameters = [], heritageClauses = [] } = /** @type {ts.InterfaceDeclaration} */ (node);
  const parts = [...typeParameters, ...heritageClauses];
  const text = `${
    node
      .getText()
      .replace(/^export /, "")
      .split("{")[0]
  }{ … }`;
  return { text, parts, isPlain: parts.length === 0 };
}

/**
 * The types that the nodes refer to, without those of function bodies.
 * @param {readonly ts.Node[]} nodes
 * @param {ts.TypeChecker} checker
 */
export function typesNamedBy(nodes, checker) {
  /** @type {{ name: string, file: string, symbol: ts.Symbol, declaration: ts.Declaration }[]} */
  const found = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isBlock(node)) return;
    ts.forEachChild(node, visit);
    if (
      !ts.isIdentifier(node) ||
      !(ts.isTypeReferenceNode(node.parent) || ts.isExpressionWithTypeArguments(node.parent))
    )
      return;
    const named = checker.getSymbolAtLocation(node);
    const symbol = named !== undefined && named.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(named) : named;
    const [declaration] = symbol?.declarations ?? [];
    if (symbol === undefined || declaration === undefined || ts.isTypeParameterDeclaration(declaration)) return;
    found.push({ name: symbol.name, file: declaration.getSourceFile().fileName, symbol, declaration });
  };
  nodes.forEach(visit);
  return found;
}
