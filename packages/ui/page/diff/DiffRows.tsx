import type { LastComment } from '@devs/core/internal';
import { Fragment, type VNode } from 'preact';
import { markPieces } from '../code/Piece.ts';
import type { Colours } from '../code/useColours.ts';
import { lineAnchor } from '../gate/anchors.ts';
import { beginComment, type GateOnPage, threadAt, useThreadLines } from '../gate/gateOnPage.ts';
import { ThreadView } from '../gate/ThreadView.tsx';
import { Icon } from '../icons.tsx';
import { useDiffExtras } from './DiffExtras.ts';
import { type DiffLine, splitRows } from './diffLines.ts';
import { gapLength, type OpenLines, STEP } from './gaps.ts';
import { isSplit } from './isSplit.ts';
import { useNear } from './useNear.ts';
import type { Mark } from './wordMarks.ts';

/** Lines that are made at once; it limits the longest task of the browser. */
const CHUNK = 200;

/** Of a line, as long as it was not made: rem. */
const LINE_REM = 1.25;

/** The room of lines that are not made. */
export const chunkHeight = (lines: number) => ({ height: `${lines * LINE_REM}rem` });

/** The lines of a file, with colours, marks and comments. */
export interface RowsOf {
  readonly path: string;
  /** All of them: a chunk shows some. */
  readonly lines: readonly DiffLine[];
  readonly gate: GateOnPage | null;
  readonly colours: Colours;
  readonly marks: ReadonlyMap<DiffLine, readonly Mark[]>;
  readonly last: ReadonlyMap<DiffLine, readonly LastComment[]>;
  readonly open: OpenLines | null;
}

/** The lines of a file, chunk by chunk. */
export function DiffRows({ isAtOnce, ...rows }: RowsOf & { readonly isAtOnce: boolean }) {
  const count = Math.ceil(rows.lines.length / CHUNK);
  return (
    <>
      {Array.from({ length: count }, (_, at) => (
        <Chunk key={at} from={at * CHUNK} rows={rows} isAtOnce={isAtOnce || at === 0} />
      ))}
    </>
  );
}

/** On a phone the rows are grids, and lose the roles of a table. */
const ROLES = { table: { role: 'table' }, row: { role: 'row' }, cell: { role: 'cell' } } as const;

interface ChunkOf {
  readonly from: number;
  readonly rows: RowsOf;
}

function Chunk({ isAtOnce, from, rows }: ChunkOf & { readonly isAtOnce: boolean }) {
  const { place, isNear } = useNear(isAtOnce);
  if (isNear) return <Rows from={from} rows={rows} />;
  const length = Math.min(CHUNK, rows.lines.length - from);
  return <div ref={place} class="chunk" style={chunkHeight(length)} />;
}

function Rows({ from, rows }: ChunkOf) {
  const lines = rows.lines.slice(from, from + CHUNK);
  // Another word in a comment does not make the rows anew.
  const said = new Set(useThreadLines(rows.gate, rows.path).value.split(' ').map(Number));
  const below: RenderBelow = (line) =>
    line !== null && <Below line={line} rows={rows} isSaid={said.has(lineNumber(line))} />;
  const isWide = isSplit.value && matchMedia('(min-width: 56rem)').matches;
  return (
    <table class={`diff ${isWide ? 'split' : 'uni'}`} {...ROLES.table}>
      <colgroup>
        <col class="co" />
        {isWide ? <col /> : <col class="cn" />}
        {isWide && <col class="co" />}
        <col />
      </colgroup>
      <tbody>{isWide ? renderSplit(lines, rows, below) : renderUnified(lines, rows, below)}</tbody>
    </table>
  );
}

type RenderBelow = (line: DiffLine | null) => VNode | false;

const renderSplit = (lines: readonly DiffLine[], rows: RowsOf, below: RenderBelow) =>
  splitRows(lines).map(({ before, after }, at) => (
    <Fragment key={at}>
      {isGap(before) ? (
        <Gap line={before} rows={rows} columns={4} />
      ) : (
        <tr>
          <Side line={before} side="before" rows={rows} />
          <Side line={after} side="after" rows={rows} />
        </tr>
      )}
      {before?.kind === 'removed' && below(before)}
      {below(after)}
    </Fragment>
  ));

const renderUnified = (lines: readonly DiffLine[], rows: RowsOf, below: RenderBelow) =>
  lines.map((line, at) => (
    <Fragment key={at}>
      {isGap(line) ? (
        <Gap line={line} rows={rows} columns={3} />
      ) : (
        <tr class={line.kind} data-place={rows.path} data-line={lineNumber(line)} {...ROLES.row}>
          <td class="no o" {...ROLES.cell}>
            {line.kind === 'removed' ? <At line={line} rows={rows} /> : line.before}
          </td>
          <td class="no n" {...ROLES.cell}>
            {line.kind !== 'removed' && <At line={line} rows={rows} />}
          </td>
          <td class="tx" {...ROLES.cell}>
            <Text line={line} rows={rows} />
          </td>
        </tr>
      )}
      {below(line)}
    </Fragment>
  ));

type GapLine = DiffLine & { readonly kind: 'gap' };

const isGap = (line: DiffLine | null): line is GapLine => line?.kind === 'gap';

/** In the file as it is now; of a removed line, as it was. */
const lineNumber = ({ after, before }: DiffLine): number => after ?? before ?? 0;

interface LineOf {
  readonly line: DiffLine;
  readonly rows: RowsOf;
}

function Text({ line, rows: { colours, marks } }: LineOf) {
  const pieces = colours.get(line) ?? [{ text: line.text, tone: null }];
  return (
    <>
      {markPieces(pieces, marks.get(line) ?? []).map(({ text, tone, isMarked }, at) => {
        const shown = isMarked === true ? <mark key={at}>{text}</mark> : text;
        return tone === null ? (
          shown
        ) : (
          <span key={at} class={tone}>
            {shown}
          </span>
        );
      })}
    </>
  );
}

/** Lines that are left out, and the way to them. */
function Gap({ line, rows, columns }: LineOf & { readonly columns: number }) {
  const { lines, open } = rows;
  const at = lines.indexOf(line);
  const length = gapLength(lines, at);
  if (length === 0 && line.text === '') return null;
  const words = length === 0 ? null : `${length} unchanged ${length === 1 ? 'line' : 'lines'}`;
  const context = line.text === '' ? null : <code>{line.text}</code>;
  return (
    <tr class="gap">
      <td colSpan={columns}>
        {open === null || length === 0 ? (
          <span>
            {words} {context}
          </span>
        ) : (
          <>
            <button type="button" onClick={() => open(at, STEP)}>
              <Icon name="gap" /> {words} {context}
            </button>
            {length > STEP && (
              <button type="button" class="all" onClick={() => open(at, length)}>
                all
              </button>
            )}
          </>
        )}
      </td>
    </tr>
  );
}

/** The number of a line, as a button where it can be commented on. */
function At({ line, rows: { path, gate } }: LineOf) {
  const number = lineNumber(line);
  if (number === 0 || line.kind === 'place') return null;
  const anchor = lineAnchor(path, number, line.text);
  if (gate?.takesComments !== true || anchor === null) return <>{number}</>;
  const words = `Comment on line ${number} of ${path}`;
  const begin = (): void => beginComment(gate, anchor);
  return (
    <button type="button" class="at" tabIndex={-1} aria-label={words} onClick={begin}>
      {number}
    </button>
  );
}

interface SideOf {
  readonly line: DiffLine | null;
  readonly side: 'before' | 'after';
  readonly rows: RowsOf;
}

/** Of an unchanged line, only the newer side takes comments. */
function Side({ line, side, rows }: SideOf) {
  if (line === null) return <td colSpan={2} class="nil" />;
  const isOwn = side === 'after' || line.kind === 'removed';
  return (
    <>
      <td class={`no ${line.kind}`}>{isOwn ? <At line={line} rows={rows} /> : line.before}</td>
      <td class={`tx ${line.kind}`} data-place={isOwn ? rows.path : undefined} data-line={lineNumber(line)}>
        <Text line={line} rows={rows} />
      </td>
    </>
  );
}

/** Below a line: criteria with this line as evidence, comments of the last round, and the person's own. */
function Below({ line, rows, isSaid }: LineOf & { readonly isSaid: boolean }) {
  const { path, gate, last } = rows;
  const extras = useDiffExtras();
  const shows = line.after === undefined ? [] : (extras?.evidenceAt(path, line.after) ?? []);
  const own =
    gate === null || !isSaid ? [] : threadAt(gate, path, (number) => number === lineNumber(line)).own;
  // Two lines may have one number, before and after.
  const here = own.filter(({ comment }) => line.text.includes(comment.quote));
  const said = last.get(line) ?? [];
  if (shows.length + here.length + said.length === 0) return null;
  return (
    <tr class="talk thread">
      <td colSpan={4}>
        {shows.map((criterion) => (
          <p key={criterion} class="shows">
            <Icon name="check" tone="ok" /> {criterion}
          </p>
        ))}
        {gate !== null && <ThreadView thread={{ own: here, last: said }} gate={gate} />}
      </td>
    </tr>
  );
}
