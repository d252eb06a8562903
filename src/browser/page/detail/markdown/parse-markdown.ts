import { Lexer, Tokenizer, type MarkedOptions, type Token, type Tokens, type TokensList } from "marked";

/** Why a text is shown as it is written: what marked would need for it grows with the square of its length, or faster. */
export type Unparsed = "too deep" | "too slow";

export interface MarkdownLimits {
  /** Levels of lists and quotes in one another. */
  readonly depth: number;
  readonly milliseconds: number;
  /** Longer paragraphs stay plain text. */
  readonly paragraphCharacters: number;
}

const defaults: MarkdownLimits = { depth: 24, milliseconds: 300, paragraphCharacters: 8_192 };

/** Markdown as tokens, never as HTML. Never throws, and ends soon after its time is over. */
export function parseMarkdown(
  markdown: string,
  limits: Partial<MarkdownLimits> = {},
  now: () => number = () => performance.now(),
): { readonly tokens: readonly Token[] } | { readonly unparsed: Unparsed } {
  const lexer = new BoundedLexer(options, { ...defaults, ...limits }, now);
  try {
    return { tokens: lexer.lex(markdown) };
  } catch (error) {
    if (error instanceof Exceeded) return { unparsed: error.what };
    // The stack is the one limit that marked can reach before ours.
    if (error instanceof RangeError) return { unparsed: "too deep" };
    throw error;
  }
}

class Exceeded extends Error {
  readonly what: Unparsed;

  constructor(what: Unparsed) {
    super(`The Markdown is ${what} to parse.`);
    this.what = what;
  }
}

/** A lexer that checks the clock and its depth whenever it goes one level down. */
class BoundedLexer extends Lexer {
  readonly #limits: MarkdownLimits;
  readonly #now: () => number;
  readonly #deadline: number;
  #depth = 0;

  constructor(options: MarkedOptions, limits: MarkdownLimits, now: () => number) {
    super(options);
    this.#limits = limits;
    this.#now = now;
    this.#deadline = now() + limits.milliseconds;
  }

  override blockTokens(src: string, tokens?: Token[], lastParagraphClipped?: boolean): Token[];
  override blockTokens(src: string, tokens?: TokensList, lastParagraphClipped?: boolean): TokensList;
  override blockTokens(src: string, tokens?: Token[] | TokensList, lastParagraphClipped?: boolean): Token[] {
    return this.#down(() => super.blockTokens(src, tokens, lastParagraphClipped));
  }

  override inlineTokens(src: string, tokens?: Token[]): Token[] {
    if (src.length <= this.#limits.paragraphCharacters) return this.#down(() => super.inlineTokens(src, tokens));
    const plain: Tokens.Text = { type: "text", raw: src, text: src };
    const all = tokens ?? [];
    all.push(plain);
    return all;
  }

  #down<Result>(lex: () => Result): Result {
    if (this.#depth >= this.#limits.depth) throw new Exceeded("too deep");
    if (this.#now() > this.#deadline) throw new Exceeded("too slow");
    this.#depth++;
    try {
      return lex();
    } finally {
      this.#depth--;
    }
  }
}

const cellsOfTable = 10_000;

/** Leaves out what makes a short text large or slow: filling in the cells of wide tables, and looking for addresses of mail. */
class PlainTokenizer extends Tokenizer {
  override table(src: string): Tokens.Table | undefined {
    const [, header = "", , rows = ""] = this.rules.block.table.exec(src) ?? [];
    return header.split("|").length * rows.split("\n").length > cellsOfTable ? undefined : super.table(src);
  }

  /** An HTML tag is text here: what follows it is Markdown again, and neither raw nor part of a link. */
  override tag(src: string): Tokens.Tag | undefined {
    const { inLink } = this.lexer.state;
    const tag = super.tag(src);
    Object.assign(this.lexer.state, { inLink, inRawBlock: false });
    return tag;
  }

  override url(src: string): Tokens.Link | undefined {
    return /^https?:\/\//i.test(src) ? super.url(src) : undefined;
  }
}

const options: MarkedOptions = { gfm: true, async: false, tokenizer: new PlainTokenizer() };
