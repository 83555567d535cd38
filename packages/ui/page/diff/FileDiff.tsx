import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { ErrorView } from '../../src/http/errors.ts';
import { useColours } from '../code/useColours.ts';
import { threadAt, useGate, useThreadLines } from '../gate/gateOnPage.ts';
import { LastComments } from '../gate/ThreadView.tsx';
import { Icon } from '../icons.tsx';
import { Lines, Problem } from '../parts.tsx';
import { toErrorView } from '../state.ts';
import { formatCommentCount } from '../words.ts';
import { useDiffExtras } from './DiffExtras.ts';
import { chunkHeight, DiffRows } from './DiffRows.tsx';
import type { DiffFile, DiffLine } from './diffLines.ts';
import { type OpenLines, openBelow, openGap, STEP } from './gaps.ts';
import { lastInFile } from './lastInFile.ts';
import type { LinesAtOnce } from './linesAtOnce.ts';
import { useNear } from './useNear.ts';
import { whyFolded } from './whyFolded.ts';
import { wordMarks } from './wordMarks.ts';

interface FileOf {
  readonly file: DiffFile;
  readonly atOnce: LinesAtOnce;
}

/** A file of a diff. A folded file has only its head, and a long file only the lines near the screen. */
export function FileDiff({ file, atOnce }: FileOf) {
  const { path } = file;
  const extras = useDiffExtras();
  const isViewed = extras?.isViewed(path) === true;
  const isOpen = useSignal(whyFolded(file) === null && !isViewed);
  const view = (checked: boolean): void => {
    extras?.setViewed(path, checked);
    isOpen.value = !checked;
    if (checked) goToNext(path);
  };
  const fold = (): void => {
    isOpen.value = !isOpen.value;
  };
  return (
    <section class="file panel" data-section data-file={path} tabIndex={-1} aria-label={path}>
      <FileHead file={file} isOpen={isOpen.value} onFold={fold}>
        {extras !== null && (
          <label class="viewed">
            <input
              type="checkbox"
              checked={isViewed}
              aria-label={`Viewed: ${path}`}
              onChange={({ currentTarget }) => view(currentTarget.checked)}
            />
            <span class="hide-s">Viewed</span>
          </label>
        )}
      </FileHead>
      {isOpen.value && <NearBody file={file} atOnce={atOnce} />}
    </section>
  );
}

/** To the next file that was not viewed. */
function goToNext(path: string): void {
  const all = [...document.querySelectorAll<HTMLElement>('[data-file]')];
  const below = all.slice(all.findIndex((file) => file.dataset['file'] === path) + 1);
  const next = below.find((file) => file.querySelector('.viewed input:not(:checked)') !== null);
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'start' });
}

interface FileHeadOf {
  readonly file: DiffFile;
  readonly isOpen: boolean;
  readonly onFold: () => void;
  readonly children: ComponentChildren;
}

const CHIPS: Readonly<Record<DiffFile['change'], string | null>> = {
  changed: null,
  new: 'new',
  deleted: 'deleted',
  moved: 'moved',
  copied: 'copied',
  binary: 'binary',
};

function FileHead({ file, isOpen, onFold, children }: FileHeadOf) {
  const { path, from, change, mode, added, removed } = file;
  const said = useThreadLines(useGate(), path);
  const at = path.lastIndexOf('/') + 1;
  const why = whyFolded(file);
  return (
    <header class="fh">
      <button
        type="button"
        class="fold"
        aria-expanded={isOpen}
        aria-label={`${isOpen ? 'Fold' : 'Unfold'} ${path}`}
        onClick={onFold}
      >
        <Icon name={isOpen ? 'down' : 'right'} />
      </button>
      <span class="fname" title={path}>
        {from !== null && <span class="q3">{from} → </span>}
        <span class="q3">{path.slice(0, at)}</span>
        <b>{path.slice(at)}</b>
      </span>
      {CHIPS[change] !== null && <span class="chip">{CHIPS[change]}</span>}
      {mode !== null && <span class="chip">mode {mode}</span>}
      {why !== null && !isOpen && <span class="chip">folded, {why}</span>}
      {said.value !== '' && (
        <span class="chip wait">
          <Icon name="comment" />
          {formatCommentCount(said.value.split(' ').length)}
        </span>
      )}
      <span class="grow" />
      <Lines added={added} removed={removed} />
      {children}
    </header>
  );
}

/** Keys lead to comments, and to the evidence of a criterion: files with them are there. */
function NearBody({ file, atOnce }: FileOf) {
  const [gate, extras] = [useGate(), useDiffExtras()];
  const said = gate === null ? null : threadAt(gate, file.path, () => true);
  const isLedTo = (said?.own.length ?? 0) + (said?.last.length ?? 0) > 0 || extras?.hasEvidence(file.path);
  const { place, isNear } = useNear(atOnce !== 'head' || isLedTo === true);
  if (isNear) return <FileBody file={file} atOnce={atOnce} />;
  return <div ref={place} class="fb" style={chunkHeight(file.lines.length)} />;
}

function FileBody({ file, atOnce }: FileOf) {
  const { path, notes } = file;
  const gate = useGate();
  const { lines, error, open } = useOpened(file);
  const colours = useColours(path, lines).value;
  const marks = useMemo(() => wordMarks(lines), [lines]);
  const last = useMemo(
    () => lastInFile(lines, gate === null ? [] : threadAt(gate, path, () => true).last),
    [lines, gate],
  );
  return (
    <div class="fb">
      {notes.map((note) => (
        <p key={note} class="file-note q3">
          {note}
        </p>
      ))}
      {error !== null && <Problem error={error} />}
      <LastComments comments={last.elsewhere} />
      <DiffRows {...{ path, lines, gate, colours, marks, open }} isAtOnce={atOnce === 'all'} last={last.at} />
      {open !== null && canOpenBelow(file) && (
        <button type="button" class="gap-below" onClick={() => open(null, STEP)}>
          <Icon name="gap" /> lines below
        </button>
      )}
    </div>
  );
}

const canOpenBelow = ({ change, lines }: DiffFile): boolean =>
  (change === 'changed' || change === 'moved') && lines.length > 0;

/** The lines of a file with the opened ones. `open` is `null` outside of a review. */
function useOpened(file: DiffFile) {
  const extras = useDiffExtras();
  const lines = useSignal<readonly DiffLine[]>(file.lines);
  const error = useSignal<ErrorView | null>(null);
  useEffect(() => {
    lines.value = file.lines;
  }, [file]);
  const open: OpenLines = (at, most) => {
    extras?.readLines(file.path).then(
      (text) => {
        lines.value =
          at === null ? openBelow(lines.value, { text, most }) : openGap(lines.value, at, { text, most });
      },
      (failure: unknown) => {
        error.value = toErrorView(failure);
      },
    );
  };
  return { lines: lines.value, error: error.value, open: extras === null ? null : open };
}
