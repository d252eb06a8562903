import { Lexer, Tokenizer, type MarkedOptions, type Token, type Tokens, type TokensList } from "marked";

/** The limits of parsing: the time that marked needs grows with the square of the text's length, or faster. */
export interface MarkdownLimits {
  /** The maximum depth of nested lists and quotes. */
  readonly depth: number;
  readonly durationMs: number;
  /** Longer paragraphs are plain text. */
  readonly paragraphCharacters: number;
}

const defaults: MarkdownLimits = { depth: 24, durationMs: 300, paragraphCharacters: 8_192 };

/** Parses Markdown into tokens, never into HTML; undefined if it exceeds the limits. Never throws, and ends soon after `durationMs`. */
export function parseMarkdown(
  markdown: string,
  limits: Partial<MarkdownLimits> = {},
  now: () => number = () => performance.now(),
): readonly Token[] | undefined {
  try {
    return new BoundedLexer(options, { ...defaults, ...limits }, now).lex(markdown);
  } catch (error) {
    // A RangeError comes from these limits, or from the stack, the only limit that marked can reach before.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A lexer that checks the time and its depth whenever it goes one level down. */
class BoundedLexer extends Lexer {
  readonly #limits: MarkdownLimits;
  readonly #now: () => number;
  readonly #deadline: number;
  #depth = 0;

  constructor(options: MarkedOptions, limits: MarkdownLimits, now: () => number) {
    super(options);
    this.#limits = limits;
    this.#now = now;
    this.#deadline = now() + limits.durationMs;
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
    if (this.#depth >= this.#limits.depth || this.#now() > this.#deadline)
      throw new RangeError("The Markdown is too deep, or too slow to parse.");
    this.#depth++;
    try {
      return lex();
    } finally {
      this.#depth--;
    }
  }
}

const cellsOfTable = 10_000;

/** Skips the features that make a short text large or slow: filling in the cells of wide tables, and finding mail addresses. */
class PlainTokenizer extends Tokenizer {
  override table(src: string): Tokens.Table | undefined {
    const [, header = "", , rows = ""] = this.rules.block.table.exec(src) ?? [];
    return header.split("|").length * rows.split("\n").length > cellsOfTable ? undefined : super.table(src);
  }

  /** An HTML tag is text here: the text after it is Markdown again, neither raw nor inside a link. */
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
