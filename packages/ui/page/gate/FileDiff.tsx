import { signal, useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type DiffFile, type DiffLine, splitRows } from '../diffLines.ts';
import { formatCommentCount } from '../words.ts';
import { lineAnchor } from './anchors.ts';
import { beginComment, type GateOnPage, threadAt, useGate, useThreadLines } from './gateOnPage.ts';
import { LastComments, ThreadView } from './ThreadView.tsx';

/** Lines of a file from which it is folded. */
const LARGE = 400;

/** Lines that are made at once: a browser is never busy for longer than that takes. */
const CHUNK = 200;

/** Of a line, as long as it was not made: rem. */
const LINE_REM = 1.22;

/** Written by programs; nobody reads them line by line. */
const LOCKFILE = /(^|\/)(?:package-lock\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|[\w-]+\.lock|go\.sum)$/;

const SIGNS = { added: '+', removed: '-', same: ' ', place: '' } as const;

const isFolded = ({ path, lines }: DiffFile): boolean => lines.length > LARGE || LOCKFILE.test(path);

/** A file of a diff. Nothing of it is made while it is folded, and of a long one what is near. */
export function FileDiff({ file, isAtOnce }: { readonly file: DiffFile; readonly isAtOnce: boolean }) {
  const { path, added, removed, notes, lines } = file;
  const gate = useGate();
  const isOpen = useSignal(!isFolded(file));
  const said = useThreadLines(gate, path);
  return (
    <details
      open={isOpen.value}
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>
        <code>{path}</code> <span class="added">+{added}</span> <span class="removed">-{removed}</span>
        {isFolded(file) && (
          <span class="quiet">
            {' '}
            {lines.length} lines{isOpen.value ? '' : ', folded'}
          </span>
        )}
        {said.value !== '' && <span class="count">{formatCommentCount(said.value.split(' ').length)}</span>}
      </summary>
      {isOpen.value && (
        <>
          {notes.map((note) => (
            <p key={note} class="quiet">
              {note}
            </p>
          ))}
          {gate !== null && <LastComments comments={threadAt(gate, path, () => true).last} />}
          {chunksOf(lines).map((chunk, at) => (
            <Chunk key={at} path={path} lines={chunk} gate={gate} isAtOnce={isAtOnce || at === 0} />
          ))}
        </>
      )}
    </details>
  );
}

function chunksOf(lines: readonly DiffLine[]): readonly (readonly DiffLine[])[] {
  const count = Math.ceil(lines.length / CHUNK);
  return Array.from({ length: count }, (_, at) => lines.slice(at * CHUNK, (at + 1) * CHUNK));
}

interface ChunkOf {
  readonly path: string;
  readonly lines: readonly DiffLine[];
  readonly gate: GateOnPage | null;
}

function Chunk({ isAtOnce, ...chunk }: ChunkOf & { readonly isAtOnce: boolean }) {
  const isNear = useSignal(isAtOnce);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isNear.value || place.current === null) return undefined;
    const observer = new IntersectionObserver(
      (seen) => {
        if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
        isNear.value = true;
        observer.disconnect();
      },
      { rootMargin: '600px' },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  if (isNear.value) return <Rows {...chunk} />;
  return <div ref={place} class="chunk" style={{ height: `${chunk.lines.length * LINE_REM}rem` }} />;
}

function Rows({ path, lines, gate }: ChunkOf) {
  // Another word in a comment makes no row anew.
  const said = useThreadLines(gate, path);
  const isSaid = new Set(said.value.split(' ').map(Number));
  const of = { path, gate };
  const threadOf = (line: DiffLine | null) =>
    line !== null && isSaid.has(lineNumber(line)) && <ThreadRow line={line} {...of} />;
  return (
    <table class={isSplit.value ? 'split' : ''}>
      <tbody>
        {isSplit.value
          ? splitRows(lines).map(({ before, after }, at) => (
              <Fragment key={at}>
                <tr>
                  <Side line={before} side="before" {...of} />
                  <Side line={after} side="after" {...of} />
                </tr>
                {before?.kind === 'removed' && threadOf(before)}
                {threadOf(after)}
              </Fragment>
            ))
          : lines.map((line, at) => (
              <Fragment key={at}>
                <tr class={line.kind} data-place={path} data-line={lineNumber(line)}>
                  <td class="at">{line.kind === 'removed' && <At line={line} {...of} />}</td>
                  <td class="at">{line.kind !== 'removed' && <At line={line} {...of} />}</td>
                  <td class="sign">{SIGNS[line.kind]}</td>
                  <td class="text">{line.text}</td>
                </tr>
                {threadOf(line)}
              </Fragment>
            ))}
      </tbody>
    </table>
  );
}

/** In the file as it is now; of a removed line, as it was. */
const lineNumber = ({ after, before }: DiffLine): number => after ?? before ?? 0;

interface LineOf {
  readonly path: string;
  readonly line: DiffLine;
  readonly gate: GateOnPage | null;
}

/** The number of a line, as a button where it can be commented on. */
function At({ path, line, gate }: LineOf) {
  const number = lineNumber(line);
  if (number === 0) return null;
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

interface SideOf extends Omit<LineOf, 'line'> {
  readonly line: DiffLine | null;
  readonly side: 'before' | 'after';
}

/** Of what did not change, only the newer side takes comments. */
function Side({ line, side, path, gate }: SideOf) {
  if (line === null) return <td colSpan={2} class="nothing" />;
  const isOwn = side === 'after' || line.kind === 'removed';
  return (
    <>
      <td class={`at ${line.kind}`}>{isOwn ? <At line={line} path={path} gate={gate} /> : line.before}</td>
      <td class={`text ${line.kind}`} data-place={isOwn ? path : undefined} data-line={lineNumber(line)}>
        {line.text}
      </td>
    </>
  );
}

/** Below the line that it quotes: two lines may have one number, before and after. */
function ThreadRow({ path, line, gate }: LineOf) {
  if (gate === null) return null;
  const { own } = threadAt(gate, path, (number) => number === lineNumber(line));
  const here = own.filter(({ comment }) => line.text.includes(comment.quote));
  if (here.length === 0) return null;
  return (
    <tr class="thread">
      <td colSpan={4}>
        <ThreadView thread={{ own: here, last: [] }} gate={gate} />
      </td>
    </tr>
  );
}

/** Of every diff on the page: what a person likes better does not change from file to file. */
export const isSplit = signal(false);
