import type { ComponentChildren } from 'preact';
import { type AroundBlock, type Block, Markdown } from '../Markdown.tsx';
import { formatPlaceName } from '../words.ts';
import { type Anchor, lineAnchor, placeText, selectionAnchor } from './anchors.ts';
import { useEarlierText } from './Changes.tsx';
import { beginComment, type GateOnPage, placeLines, threadAt, useGate } from './gateOnPage.ts';
import { ThreadView } from './ThreadView.tsx';

// Texts that people comment on: rendered, as they are written, and single lines of a card.

/** Rendered. @param after - Lines that stand above it in its place. */
export function CommentedMarkdown({
  place,
  text,
  after = 0,
}: {
  readonly place: string;
  readonly text: string;
  readonly after?: number;
}) {
  const gate = useGate();
  const before = useEarlierText(place);
  if (gate === null) return <Markdown text={text} before={before} />;
  const around: AroundBlock = ({ from, to, isOf }, children) => (
    <BlockView
      gate={gate}
      place={place}
      block={{ from: from + after, to: to + after, isOf: (line) => isOf(line - after) }}
    >
      {children}
    </BlockView>
  );
  return <Markdown text={text} around={around} before={before} />;
}

/** As it is written, line for line. */
export function SourceLines({ place, text }: { readonly place: string; readonly text: string }) {
  const gate = useGate();
  if (gate === null) return <pre class="artifact">{text}</pre>;
  return (
    <div class="source">
      {text.split('\n').map((words, at) => {
        const block = { from: at + 1, to: at + 1, isOf: (line: number) => line === at + 1 };
        return (
          <BlockView key={at} gate={gate} place={place} block={block}>
            <code>{words}</code>
          </BlockView>
        );
      })}
    </div>
  );
}

interface CommentedLineOf {
  readonly place: string;
  readonly line: number;
  readonly text: string;
  /** Which lines are shown here. @defaultValue those of the text */
  readonly isOf?: (line: number) => boolean;
  readonly children: ComponentChildren;
}

export function CommentedLine({ place, line, text, isOf, children }: CommentedLineOf) {
  const gate = useGate();
  if (gate === null) return <>{children}</>;
  const to = line + text.split('\n').length - 1;
  const isWithin = isOf ?? ((at: number) => at >= line && at <= to);
  return (
    <BlockView gate={gate} place={place} block={{ from: line, to, isOf: isWithin }}>
      {children}
    </BlockView>
  );
}

interface BlockViewOf {
  readonly gate: GateOnPage;
  readonly place: string;
  readonly block: Block;
  readonly children: ComponentChildren;
}

function BlockView({ gate, place, block: { from, to, isOf }, children }: BlockViewOf) {
  const lines = placeLines(gate.view, place);
  const first = lines.slice(from - 1, to).findIndex((line) => line.trim() !== '');
  const line = from + first;
  const anchor = first < 0 ? null : lineAnchor(place, line, lines[line - 1] ?? '');
  return (
    <div class="block" data-place={place} data-line={from} data-to={to}>
      {gate.takesComments && anchor !== null && (
        <button
          type="button"
          class="at"
          tabIndex={-1}
          aria-label={`Comment on line ${line} of ${formatPlaceName(place)}`}
          onClick={() => beginComment(gate, anchor)}
        >
          {from}
        </button>
      )}
      {children}
      <BlockThread gate={gate} place={place} isOf={isOf} />
    </div>
  );
}

/** By itself: what is typed into a comment makes no text anew. */
function BlockThread({ gate, place, isOf }: Pick<BlockViewOf, 'gate' | 'place'> & Pick<Block, 'isOf'>) {
  const thread = threadAt(gate, place, isOf);
  if (thread.own.length + thread.last.length === 0) return null;
  return (
    <div class="said">
      <ThreadView thread={thread} gate={gate} />
    </div>
  );
}

/** What is selected on the page as something to comment on; `null` where nothing is that could be. */
export function selectedAnchor(gate: GateOnPage): Anchor | null {
  const selection = getSelection();
  if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return null;
  const { startContainer, endContainer } = selection.getRangeAt(0);
  const [from, to] = [blockElement(startContainer), blockElement(endContainer)];
  return from === null ? null : anchorBetween({ from, to: to ?? from }, selection.toString(), gate);
}

interface Hosts {
  readonly from: HTMLElement;
  readonly to: HTMLElement;
}

function anchorBetween({ from, to }: Hosts, selected: string, { view }: GateOnPage): Anchor | null {
  const { place = '', line, to: last } = from.dataset;
  const text = placeText(view.places, place);
  if (text === null) return anchorInCode(from, selected);
  const end = to.dataset['place'] === place ? to.dataset['to'] : last;
  const lines = { from: Number(line), to: Math.max(Number(line), Number(end)) };
  return selectionAnchor({ place, text }, selected, lines);
}

/** The line it begins on: the text of a file is not on the page. */
function anchorInCode(row: HTMLElement, selected: string): Anchor | null {
  const { place = '', line } = row.dataset;
  const text = (row.matches('td') ? row : row.querySelector('td.text'))?.textContent ?? '';
  const [quote = ''] = selected.trim().split('\n');
  return lineAnchor(place, Number(line), text.includes(quote) && quote !== '' ? quote : text);
}

const blockElement = (node: Node): HTMLElement | null =>
  (node instanceof HTMLElement ? node : node.parentElement)?.closest<HTMLElement>('[data-place]') ?? null;
