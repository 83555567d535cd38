import { GitWorkspace } from '@devs/agents';
import { type CommitRange, type Gate, isDevsError, maskSensitiveData } from '@devs/core';
import type { Session } from '../project/Session.ts';
import type { Line } from '../terminal/Output.ts';
import { oneLine } from '../terminal/visibleText.ts';
import { isCodeReview } from './renderCodeReview.ts';
import { shortId } from './renderGate.ts';

/** Lines of a diff that are printed unless all of it is asked for. */
const LINES_SHOWN = 200;

/** The code of a review, read from the run's git dir when it is shown; masked as a whole. */
export interface ReviewDiff {
  readonly range: CommitRange;
  readonly text: string;
  /** What has changed since the last review; `null` in the first one. */
  readonly since: { readonly range: CommitRange; readonly text: string } | null;
}

/** `null` at other gates; why not, where the git dir cannot be read. */
export async function readReviewDiff(
  gate: Gate,
  { dir }: Pick<Session, 'dir'>,
): Promise<ReviewDiff | string | null> {
  const { artifact, threadId } = gate;
  if (!isCodeReview(artifact)) return null;
  const workspace = new GitWorkspace({ dir });
  const textOf = async (range: CommitRange): Promise<string> =>
    maskSensitiveData(await workspace.diff(threadId, range));
  const { from, to } = artifact.range;
  try {
    const range = { from, to };
    const sinceRange = artifact.since === null ? null : { from: artifact.since, to };
    return {
      range,
      text: await textOf(range),
      since: sinceRange && { range: sinceRange, text: await textOf(sinceRange) },
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
  if (typeof diff === 'string') return [`The code cannot be shown: ${diff}`, ''];
  const part = (title: string, text: string, range: CommitRange): readonly Line[] => {
    const lines = text.trimEnd().split('\n');
    const left = full ? 0 : lines.length - LINES_SHOWN;
    const rest = `${left} more lines: ${devs('show', shortId(gate), '--full')}, or ${gitCommand(gate, range)}`;
    return [
      { style: 'bold', text: `── ${title}` },
      ...unshownLines(text, gitCommand(gate, range)),
      ...(left > 0 ? lines.slice(0, LINES_SHOWN) : lines),
      ...(left > 0 ? [{ style: 'dim', text: rest } as const] : []),
      '',
    ];
  };
  const { since, range, text } = diff;
  return [
    ...(since === null ? [] : part('Changed since the last review', since.text, since.range)),
    ...part(since === null ? 'The code' : 'All of the code', text, range),
  ];
}

/** Git prints no line of a binary file, and takes one with a NUL byte for binary. */
function unshownLines(text: string, command: string): readonly Line[] {
  const unshown = text.match(/^Binary files .* differ$/gm) ?? [];
  if (unshown.length === 0) return [];
  return [
    `WARNING: no line is shown of what is binary or holds a NUL byte (${unshown.length} below). As text: ${command} --text`,
    ...unshown.map((line) => oneLine(`  ${line}`)),
    '',
  ];
}

/** Works in the project folder, whatever its own repository has. Whole ids: git knows the empty tree by no shorter one. */
export function gitCommand({ threadId }: Gate, { from, to }: CommitRange): string {
  return `git --git-dir .devs/git/${threadId}.git diff ${from} ${to}`;
}
