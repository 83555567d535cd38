import MarkdownIt, { type Token } from 'markdown-it';
import { type ComponentChild, h } from 'preact';
import { blockOf } from './gate/anchors.ts';
import { Pieces } from './gate/Changes.tsx';
import { PieceCursor, type TextChanges, textChanges } from './gate/textChanges.ts';

// From tokens to elements, without a string of HTML in between: what a model wrote is a text node, an element of this list,
// or a link to the web.

const TAGS: ReadonlySet<string> = new Set(
  'p h1 h2 h3 h4 h5 h6 ul ol li blockquote em strong s table thead tbody tr th td'.split(' '),
);
const WEB = /^https?:\/\//i;

const parser = new MarkdownIt({ html: false, linkify: false, typographer: false });

interface TokenFrame {
  readonly token: Token | null;
  readonly children: ComponentChild[];
  /** Removed texts before it. */
  readonly gone: readonly string[];
  /** Its text so far. */
  text: string;
}

/** Some lines of a text that are shown as one: `isOf` says of any line whether it is shown there. */
export interface Block {
  /** From 1; the last one is shown, too. */
  readonly from: number;
  readonly to: number;
  readonly isOf: (line: number) => boolean;
}

/** What is put around a block, such as what is said of it. */
export type AroundBlock = (block: Block, children: ComponentChild) => ComponentChild;

interface MarkdownOf {
  readonly text: string;
  readonly around?: AroundBlock;
  /** The earlier text: added and removed words are marked. @defaultValue without marks */
  readonly before?: string | null;
}

export function Markdown({ text, around, before = null }: MarkdownOf) {
  const tokens = parser.parse(text, {});
  const changes = before === null || before === text ? null : changesOf(before, tokens);
  const marks = new Marks(changes);
  const after = (changes?.goneAfter ?? []).map((gone) => renderGone('p', gone));
  if (around === undefined) {
    return (
      <div class="prose">
        {elements(tokens, { marks })}
        {after}
      </div>
    );
  }
  const starts = tokens.filter(isBlock).map(tokenStart);
  const whole: AroundBlock = (block, children) =>
    around({ ...block, isOf: (line) => blockOf(starts, line) === block.from }, children);
  return (
    <div class="prose">
      {topLevel(tokens).map((group) => {
        const [first] = group;
        const shown = elements(group, { around: whole, marks });
        return first === undefined || !isBlock(first) ? shown : whole(blockOfToken(first), shown);
      })}
      {after}
    </div>
  );
}

const changesOf = (before: string, tokens: readonly Token[]): TextChanges =>
  textChanges(unitTexts(parser.parse(before, {})), unitTexts(tokens));

/** The blocks of a text, each as it is shown: without those that are in it. */
function unitTexts(tokens: readonly Token[]): readonly string[] {
  const units: string[] = [];
  const open: number[] = [];
  const add = (text: string): void => {
    const at = open.at(-1);
    if (at !== undefined) units[at] += text;
  };
  for (const token of tokens) {
    const isUnit = isBlock(token);
    if (isUnit) units.push('');
    if (token.nesting === 1) open.push(isUnit ? units.length - 1 : (open.at(-1) ?? units.length - 1));
    else if (token.nesting === -1) open.pop();
    else if (isUnit) units[units.length - 1] = shownText(token);
    else add(token.type === 'inline' ? `${inlineText(token.children ?? [])}\n` : shownText(token));
  }
  return units;
}

function inlineText(tokens: readonly Token[]): string {
  let text = '';
  const links: { readonly href: string; readonly from: number }[] = [];
  for (const token of tokens) {
    text += shownText(token);
    if (token.type === 'link_open') links.push({ href: hrefOf(token), from: text.length });
    if (token.type !== 'link_close') continue;
    const { href = '', from = 0 } = links.pop() ?? {};
    text += targetText(href, text.slice(from));
  }
  return text;
}

/** The marks of a text, block by block, in the order of the page. */
class Marks {
  readonly #changes: TextChanges | null;
  readonly #open: PieceCursor[] = [];
  #next = 0;

  constructor(changes: TextChanges | null) {
    this.#changes = changes;
  }

  /** Returns removed texts before it. */
  open(): readonly string[] {
    const { pieces = [], goneBefore = [] } = this.#changes?.units[this.#next] ?? {};
    this.#next += 1;
    this.#open.push(new PieceCursor(pieces));
    return goneBefore;
  }

  /** A part of the block that is shown. */
  shown(text: string): ComponentChild {
    if (this.#changes === null) return text;
    const taken = this.#open.at(-1)?.take(text.length) ?? [];
    const now = taken.map((piece) => (piece.kind === 'removed' ? '' : piece.text)).join('');
    // Whatever is marked: the text itself is shown.
    return now === text ? <Pieces pieces={taken} /> : text;
  }

  /** Between two lines of text: only removed words. */
  between(): ComponentChild {
    if (this.#changes === null) return null;
    const taken = this.#open.at(-1)?.take(1) ?? [];
    return <Pieces pieces={taken.filter(({ kind }) => kind === 'removed')} />;
  }

  close(): void {
    this.#open.pop();
  }
}

const renderGone = (tag: 'li' | 'p', text: string): ComponentChild =>
  h(tag, { class: 'gone' }, <del>{text.trim()}</del>);

/** What is commented on as one: an item of a list, and everything else that is in nothing. */
const isBlock = ({ map, level, nesting, type }: Token): boolean =>
  map !== null &&
  nesting >= 0 &&
  (type === 'list_item_open' || (level === 0 && !/^(?:bullet|ordered)_list_open$/.test(type)));

const tokenStart = ({ map }: Token): number => (map?.[0] ?? 0) + 1;

const blockOfToken = (token: Token): Block => ({
  from: tokenStart(token),
  to: token.map?.[1] ?? tokenStart(token),
  isOf: () => true,
});

function topLevel(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const groups: Token[][] = [];
  for (const token of tokens) {
    if (token.level === 0 && token.nesting >= 0) groups.push([]);
    groups.at(-1)?.push(token);
  }
  return groups;
}

interface Around {
  readonly around?: AroundBlock;
  readonly marks: Marks;
}

function elements(tokens: readonly Token[], { around, marks }: Around): ComponentChild[] {
  const stack: TokenFrame[] = [{ token: null, children: [], gone: [], text: '' }];
  const top = (): TokenFrame => stack.at(-1) as TokenFrame;
  for (const token of tokens) {
    if (token.hidden) continue;
    const gone = token.nesting >= 0 && isBlock(token) ? marks.open() : [];
    if (token.nesting === 1) stack.push({ token, children: [], gone, text: '' });
    else if (token.nesting === 0) {
      const { children } = top();
      children.push(...gone.map((text) => renderGone('p', text)), leaf(token, marks));
      if (isBlock(token)) marks.close();
      top().text += shownText(token);
    } else {
      const frame = stack.pop() as TokenFrame;
      top().children.push(closed(frame, { ...(around && { around }), marks }));
      top().text += frame.text;
    }
  }
  return top().children;
}

/** An element with its content, below the removed texts before it. */
function closed({ token, children, gone, text }: TokenFrame, { around, marks }: Around): ComponentChild {
  const isItem = token?.type === 'list_item_open';
  const inside = isItem && around !== undefined ? [around(blockOfToken(token), children)] : children;
  const shown = element(token, inside, { marks, text });
  if (token !== null && isBlock(token)) marks.close();
  return gone.length === 0 ? shown : [...gone.map((each) => renderGone(isItem ? 'li' : 'p', each)), shown];
}

function element(
  token: Token | null,
  children: ComponentChild[],
  { marks, text }: Pick<Around, 'marks'> & Pick<TokenFrame, 'text'>,
): ComponentChild {
  if (token === null) return children;
  if (token.type === 'link_open') return link(hrefOf(token), children, { marks, text });
  if (!TAGS.has(token.tag)) return h('span', null, children);
  const align = /text-align:(\w+)/.exec(String(token.attrGet('style') ?? ''))?.[1];
  const start = token.attrGet('start');
  return h(
    token.tag,
    { ...(align && { class: `align-${align}` }), ...(start && { start: Number(start) }) },
    children,
  );
}

const hrefOf = (token: Token): string => String(token.attrGet('href') ?? '');

/** Behind the text of a link; empty where the text is the target. */
const targetText = (href: string, text: string): string =>
  WEB.test(href) && text === href ? '' : ` (${href})`;

/** Its target is told: what is approved is more than its name. */
function link(
  href: string,
  children: ComponentChild[],
  { marks, text }: Pick<Around, 'marks'> & Pick<TokenFrame, 'text'>,
): ComponentChild {
  const told = targetText(href, text);
  const target = told === '' ? null : <span class="target">{marks.shown(told)}</span>;
  if (!WEB.test(href)) return h('span', null, children, target);
  return (
    <>
      <a href={href} rel="noopener noreferrer" target="_blank">
        {children}
      </a>
      {target}
    </>
  );
}

/** The text of a token without children. */
function shownText(token: Token): string {
  switch (token.type) {
    case 'softbreak':
    case 'hardbreak':
      return '\n';
    case 'image':
      return `[image: ${token.content} (${token.attrGet('src') ?? ''})]`;
    case 'inline':
    case 'hr':
      return '';
    default:
      return token.nesting === 0 ? token.content : '';
  }
}

function leaf(token: Token, marks: Marks): ComponentChild {
  const text = shownText(token);
  switch (token.type) {
    case 'inline':
      return (
        <>
          {elements(token.children ?? [], { marks })}
          {marks.between()}
        </>
      );
    case 'code_inline':
      return <code>{marks.shown(text)}</code>;
    case 'fence':
    case 'code_block':
      return (
        <pre>
          <code>{marks.shown(text)}</code>
        </pre>
      );
    case 'hr':
      return <hr />;
    case 'hardbreak':
      return (
        <>
          {marks.between()}
          <br />
        </>
      );
    case 'image':
      return <span class="target">{marks.shown(text)}</span>;
    default:
      return marks.shown(text);
  }
}
