import MarkdownIt, { type Token } from 'markdown-it';
import { type ComponentChild, h } from 'preact';
import { blockOf } from './gate/anchors.ts';

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

export function Markdown({ text, around }: { readonly text: string; readonly around?: AroundBlock }) {
  const tokens = parser.parse(text, {});
  if (around === undefined) return <div class="prose">{elements(tokens)}</div>;
  const starts = tokens.filter(isBlock).map(tokenStart);
  const whole: AroundBlock = (block, children) =>
    around({ ...block, isOf: (line) => blockOf(starts, line) === block.from }, children);
  return (
    <div class="prose">
      {topLevel(tokens).map((group) => {
        const [first] = group;
        const shown = elements(group, whole);
        return first === undefined || !isBlock(first) ? shown : whole(blockOfToken(first), shown);
      })}
    </div>
  );
}

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

function elements(tokens: readonly Token[], around?: AroundBlock): ComponentChild[] {
  const stack: TokenFrame[] = [{ token: null, children: [] }];
  const top = (): TokenFrame => stack.at(-1) as TokenFrame;
  for (const token of tokens) {
    if (token.hidden) continue;
    if (token.nesting === 1) stack.push({ token, children: [] });
    else if (token.nesting === 0) top().children.push(leaf(token));
    else {
      const { token: opened, children } = stack.pop() as TokenFrame;
      const isItem = opened?.type === 'list_item_open' && around !== undefined;
      top().children.push(element(opened, isItem ? [around(blockOfToken(opened), children)] : children));
    }
  }
  return top().children;
}

function element(token: Token | null, children: ComponentChild[]): ComponentChild {
  if (token === null) return children;
  if (token.type === 'link_open') return link(String(token.attrGet('href') ?? ''), children);
  if (!TAGS.has(token.tag)) return h('span', null, children);
  const align = /text-align:(\w+)/.exec(String(token.attrGet('style') ?? ''))?.[1];
  const start = token.attrGet('start');
  return h(
    token.tag,
    { ...(align && { class: `align-${align}` }), ...(start && { start: Number(start) }) },
    children,
  );
}

/** Its target is told: what is approved is more than its name. */
function link(href: string, children: ComponentChild[]): ComponentChild {
  const target = <span class="target"> ({href})</span>;
  if (!WEB.test(href)) return h('span', null, children, target);
  return (
    <>
      <a href={href} rel="noopener noreferrer" target="_blank">
        {children}
      </a>
      {children.length === 1 && children[0] === href ? null : target}
    </>
  );
}

function leaf(token: Token): ComponentChild {
  switch (token.type) {
    case 'inline':
      return elements(token.children ?? []);
    case 'code_inline':
      return <code>{token.content}</code>;
    case 'fence':
    case 'code_block':
      return (
        <pre>
          <code>{token.content}</code>
        </pre>
      );
    case 'hr':
      return <hr />;
    case 'hardbreak':
      return <br />;
    case 'softbreak':
      return '\n';
    case 'image':
      return <span class="target">{`[image: ${token.content} (${token.attrGet('src') ?? ''})]`}</span>;
    default:
      return token.content;
  }
}
