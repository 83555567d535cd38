import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { GateCode } from '../../src/views/gateCode.ts';
import type { ShownGateView, Version } from '../../src/views/gateView.ts';
import { gatePath, get } from '../api.ts';
import type { Review } from '../artifacts.ts';
import { CodeNotes } from '../diff/CodeNotes.tsx';
import { type DiffExtras, DiffExtrasContext } from '../diff/DiffExtras.ts';
import { LayoutButton } from '../diff/DiffView.tsx';
import { type DiffFile, parseDiff } from '../diff/diffLines.ts';
import { FileDiff } from '../diff/FileDiff.tsx';
import { linesAtOnce } from '../diff/linesAtOnce.ts';
import { AskBox } from '../gate/AskBox.tsx';
import { GateHead } from '../gate/GateHead.tsx';
import { type GateOnPage, useGate } from '../gate/gateOnPage.ts';
import { Hidden } from '../gate/Hidden.tsx';
import { Lines, Loading, Problem } from '../parts.tsx';
import { useView } from '../useView.ts';
import { formatNumbered, formatSince, shortHash } from '../words.ts';
import { FileTree } from './FileTree.tsx';
import { ReviewSummary } from './ReviewSummary.tsx';
import { evidenceOf, readingOrder } from './reviewFiles.ts';

/** Code to decide on: evidence, then file by file. */
export function ReviewScreen({ view, review }: { readonly view: ShownGateView; readonly review: Review }) {
  const since = useSignal(view.readBefore ?? '');
  const path = `${gatePath(view)}/code${since.value === '' ? '' : `/${encodeURIComponent(since.value)}`}`;
  const loaded = useView<{ readonly code: GateCode | null }>(path, view.artifactHash).value;
  const code = loaded.kind === 'shown' ? loaded.view.code : null;
  const files = useMemo(() => readingOrder(parseDiff(code?.diff ?? '')), [code?.diff]);
  const evidence = useMemo(() => evidenceOf(review.tasks, files), [review.tasks, files]);
  const isRead = code !== null && since.value === '';
  return (
    <div class="review">
      <GateHead view={view}>
        <ReviewSummary review={review} evidence={evidence} isRead={isRead} work={view.work} />
        <Hidden view={view} count={view.hiddenCount + (code?.hidden?.length ?? 0)} />
      </GateHead>
      {loaded.kind === 'loading' && <Loading />}
      {loaded.kind === 'error' && <Problem error={loaded.error} />}
      {loaded.kind === 'shown' && (
        <Files
          {...{ view, review, files, code, evidence }}
          since={since.value}
          onSince={(version) => {
            since.value = version;
          }}
        />
      )}
      <AskBox view={view} />
    </div>
  );
}

interface FilesOf {
  readonly view: ShownGateView;
  readonly review: Review;
  readonly files: readonly DiffFile[];
  readonly code: GateCode | null;
  readonly evidence: ReturnType<typeof evidenceOf>;
  readonly since: string;
  readonly onSince: (sessionId: string) => void;
}

function Files({ view, review, files, code, evidence, since, onSince }: FilesOf) {
  const gate = useGate();
  const extras = useExtras(view, gate, evidence);
  const atOnce = useMemo(() => linesAtOnce(files), [files]);
  const { added, removed } = review.range.total;
  return (
    <DiffExtrasContext.Provider value={extras}>
      <FileTree files={files} isViewed={extras.isViewed} />
      <div class="diffs">
        <div class="dtools">
          <b>{formatNumbered(review.range.total.files, 'file')}</b>
          <Lines added={added} removed={removed} />
          <span class="grow" />
          <Since view={view} since={since} onSince={onSince} />
          <LayoutButton />
        </div>
        <CodeNotes code={code} />
        {files.map((file, at) => (
          <FileDiff key={file.path} file={file} atOnce={atOnce[at] ?? 'head'} />
        ))}
      </div>
    </DiffExtrasContext.Provider>
  );
}

/** Chooses all changes, or those since another version. */
function Since({ view, since, onSince }: Pick<FilesOf, 'view' | 'since' | 'onSince'>) {
  if (view.versions.length === 0) return null;
  return (
    <select
      id="changes"
      aria-label="Changes to show"
      value={since}
      onChange={({ currentTarget }) => onSince(currentTarget.value)}
    >
      <option value="">all changes</option>
      {view.versions.map((version) => (
        <option key={version.sessionId} value={version.sessionId}>
          {sinceWords(version, view)}
        </option>
      ))}
    </select>
  );
}

const sinceWords = ({ sessionId, artifactHash, openedAt }: Version, { readBefore }: ShownGateView): string =>
  sessionId === readBefore
    ? `since you read it (${formatSince(openedAt)})`
    : `since ${shortHash(artifactHash)} (${formatSince(openedAt)})`;

/** The additions of a review. Read lines are kept: a file of a version does not change. */
function useExtras(view: ShownGateView, gate: GateOnPage | null, evidence: FilesOf['evidence']): DiffExtras {
  const fields = gate?.store.draft.value.fields ?? {};
  const read = useMemo(() => new Map<string, Promise<readonly string[]>>(), [view.artifactHash]);
  return {
    evidenceAt: (path, line) =>
      evidence.filter((each) => each.path === path && each.line === line).map(({ criterion }) => criterion),
    hasEvidence: (path) => evidence.some((each) => each.path === path),
    readLines: (path) => {
      const known = read.get(path) ?? readLines(view, path);
      read.set(path, known);
      return known;
    },
    isViewed: (path) => fields[viewedField(path)] === 'on',
    setViewed: (path, isViewed) => gate?.store.setField(viewedField(path), isViewed ? 'on' : ''),
  };
}

/** Kept beside the draft of this version. */
export const viewedField = (path: string): string => `viewed ${path}`;

async function readLines(view: ShownGateView, path: string): Promise<readonly string[]> {
  const { lines } = await get<{ readonly lines: readonly string[] }>(
    `${gatePath(view)}/files/${encodeURIComponent(path)}`,
  );
  return lines;
}
