import type { GitWorkspace } from '@devs/agents';
import type { UnshownFile } from '@devs/agents/internal';
import { type Gate, isDevsError, maskSensitiveData } from '@devs/core';
import { maskAtGate, type ShownGate, type WorkspacePort } from '@devs/core/internal';
import type { Session } from '../project/Session.ts';
import type { Line } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';
import { isCodeReview } from './renderCodeReview.ts';
import { shortId } from './renderGate.ts';

/** Lines of a diff that are printed unless all of it is asked for. */
const LINES_SHOWN = 200;

/** What has changed between two commits. */
export interface ShownRange {
  readonly range: WorkspacePort.CommitRange;
  /** Masked as a whole: of a review as gates mask, else as other output is. */
  readonly text: string;
  /** What the text has no line of. */
  readonly unshown: readonly UnshownFile[];
}

interface HidingRange extends ShownRange {
  /** Where the text hides something. */
  readonly hidden: readonly ShownGate['hiddenPlaces'][number][];
}

/** The code of a review, read from the run's git dir when it is shown. */
export interface ReviewDiff extends HidingRange {
  /** What has changed since the last review; `null` in the first one. */
  readonly since: ShownRange | null;
}

interface Reading {
  /** Hides nothing: for whoever it is revealed to. */
  readonly reveal?: boolean;
}

/** `null` at other gates; why not, where the git dir cannot be read. */
export async function readReviewDiff(
  gate: Gate,
  session: Pick<Session, 'dir'>,
  { reveal = false }: Reading = {},
): Promise<ReviewDiff | string | null> {
  const { artifact } = gate;
  if (!isCodeReview(artifact)) return null;
  const all = await readRangeAt(gate, undefined, session);
  if (all === null || typeof all === 'string') return all;
  const since = artifact.since === null ? null : await readRangeAt(gate, artifact.since, session);
  if (typeof since === 'string') return since;
  if (reveal) return { ...all, since, hidden: [] };
  return { ...maskRange(all, gate), since: since && maskRange(since, gate) };
}

function maskRange(shown: ShownRange, { sessionId: gate }: Gate): HidingRange {
  const { view, hidden } = maskAtGate({ code: shown.text }, { gate });
  return { ...shown, text: view.code, hidden };
}

/** As {@link readReviewDiff}, of one range. @param since - The commit it begins at; that of the review when left out. */
export async function readShownDiff(
  gate: Gate,
  since: string | undefined,
  session: Pick<Session, 'dir'>,
): Promise<HidingRange | string | null> {
  const range = await readRangeAt(gate, since, session);
  return range === null || typeof range === 'string' ? range : maskRange(range, gate);
}

/** Unmasked. */
async function readRangeAt(
  { artifact, threadId }: Gate,
  since: string | undefined,
  session: Pick<Session, 'dir'>,
): Promise<ShownRange | string | null> {
  if (!isCodeReview(artifact)) return null;
  const { from, to } = artifact.range;
  return readRange(threadId, async () => ({ from: since ?? from, to }), session);
}

/** What one commit of a run has changed; why it cannot be told, where its git dir cannot be read. */
export async function readCommitDiff(
  run: string,
  commit: string,
  session: Pick<Session, 'dir'>,
): Promise<ShownRange | string> {
  const range = await readRange(run, (workspace) => workspace.changeOf(run, commit), session);
  return typeof range === 'string' ? range : { ...range, text: maskSensitiveData(range.text) };
}

async function readRange(
  run: string,
  rangeOf: (workspace: GitWorkspace) => Promise<WorkspacePort.CommitRange>,
  { dir }: Pick<Session, 'dir'>,
): Promise<ShownRange | string> {
  const { GitWorkspace } = await import('@devs/agents');
  const workspace = new GitWorkspace({ dir });
  try {
    const range = await rangeOf(workspace);
    return {
      range,
      text: await workspace.diff(run, range),
      unshown: await workspace.unshown(run, range),
    };
  } catch (error) {
    if (isDevsError(error, 'WORKSPACE_FAILED') || error instanceof RangeError) return error.message;
    throw error;
  }
}

/** The diff as a gate prints it: what is new first, then all of it; long ones end with how to see the rest. */
export function diffLines(
  diff: ReviewDiff | string,
  gate: Gate,
  { full, devs }: { readonly full: boolean; readonly devs: Session['devs'] },
): readonly Line[] {
  if (typeof diff === 'string') return [`Cannot show the code: ${diff}`, ''];
  const part = (title: string, { text, range, unshown }: ShownRange): readonly Line[] => {
    const lines = text.trimEnd().split('\n');
    const left = full ? 0 : lines.length - LINES_SHOWN;
    const rest = `${left} more lines: ${devs('show', shortId(gate), '--full')}, or ${diffCommand(gate, range)}`;
    return [
      { style: 'bold', text: `── ${title}` },
      ...unshownLines(unshown, diffCommand(gate, range)),
      { style: 'diff', text: (left > 0 ? lines.slice(0, LINES_SHOWN) : lines).join('\n') },
      ...(left > 0 ? [{ style: 'dim', text: rest } as const] : []),
      '',
    ];
  };
  const { since } = diff;
  return [
    ...(since === null ? [] : part('Changed since the last review', since)),
    ...part(since === null ? 'The code' : 'All of the code', diff),
  ];
}

/** Git prints no line of a binary file, and takes one with a NUL byte for binary. */
function unshownLines(unshown: readonly UnshownFile[], command: string): readonly Line[] {
  if (unshown.length === 0) return [];
  return [
    `WARNING: files that are binary or contain a NUL byte are not shown (${unshown.length} below). To see them as text: ${command} --text`,
    ...unshown.map((file) => oneLine(`  ${file.path}: ${formatContentChange(file)}`)),
    '',
  ];
}

function formatContentChange({ before, after }: UnshownFile): string {
  if (after === null) return `removed, ${before?.bytes ?? 0} bytes before`;
  const size =
    before === null ? `new, ${after.bytes} bytes` : `${before.bytes} bytes before, ${after.bytes} now`;
  return `${size}, git blob ${after.blob}`;
}

/** Works in the project folder, whatever its own repository has. Whole ids: git knows the empty tree by no shorter one. */
export function diffCommand({ threadId }: Gate, { from, to }: WorkspacePort.CommitRange): string {
  return `git --git-dir .devs/git/${threadId}.git diff ${from} ${to}`;
}
