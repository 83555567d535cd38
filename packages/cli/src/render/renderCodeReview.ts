import type { CodeReview } from '@devs/core/internal';
import { columns, type Line } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';
import { taskLabelOrEmpty } from './sentence.ts';

/** Of files, commits and the check's output: the gate has to fit on a screen. */
const SHOWN = { files: 20, commits: 10, output: 5 };

export function isCodeReview(artifact: unknown): artifact is CodeReview {
  if (typeof artifact !== 'object' || artifact === null) return false;
  const { tasks, range, rejections } = artifact as Partial<CodeReview>;
  return Array.isArray(tasks) && Array.isArray(rejections) && typeof range?.to === 'string';
}

/** What a human decides on, but for the code itself: tasks, criteria with what shows them, commits, files, checks. */
export function codeReviewLines(review: CodeReview): readonly Line[] {
  const { epicName, tasks, rejections, notes = [] } = review;
  return [
    ...(epicName === null ? [] : [{ style: 'bold', text: oneLine(`Epic: ${epicName}`) } as const]),
    ...tasks.flatMap(reviewTaskLines),
    '',
    ...rejectionLines(rejections),
    ...rangeLines(review),
    ...checkLines(review),
    ...notes.map((note) => oneLine(`Note    ${note}`)),
    '',
  ];
}

function reviewTaskLines({
  taskId,
  name,
  criteria,
  losses = [],
  findings = [],
}: CodeReview['tasks'][number]): readonly Line[] {
  return [
    { style: 'bold', text: oneLine(`${taskLabelOrEmpty(taskId)} ${name}`) },
    ...criteria.map(({ criterion, shownBy }) =>
      oneLine(`  - ${criterion}  [${shownBy ?? 'no evidence named'}]`),
    ),
    ...(losses.length === 0 ? [] : ['  Tests removed or weakened:']),
    ...losses.map(({ path, words }) => oneLine(`  ! ${path === null ? '' : `${path}: `}${words}`)),
    ...findings.map((finding) => oneLine(`  ! ${finding}`)),
  ];
}

function rejectionLines(rejections: CodeReview['rejections']): readonly Line[] {
  if (rejections.length === 0) return [];
  const times = rejections.length === 1 ? 'once' : `${rejections.length} times`;
  return [
    `Rejected ${times}:`,
    ...rejections.map(({ by, feedback }) => oneLine(`  - ${by}: ${feedback}`)),
    '',
  ];
}

function rangeLines({ range: { from, to, tree, commits, files, total } }: CodeReview): readonly Line[] {
  const rows = files
    .slice(0, SHOWN.files)
    .map((file) => [signedCount('+', file.added), signedCount('-', file.removed), file.path]);
  const more = total.files - rows.length;
  const older = commits.length - SHOWN.commits;
  return [
    `Commits ${short(from)}..${short(to)}, tree ${short(tree)}`,
    ...(older > 0 ? [`  and ${older} older commits`] : []),
    ...commits.slice(-SHOWN.commits).map(({ sha, subject }) => oneLine(`  ${short(sha)} ${subject}`)),
    `Files   ${total.files} changed, +${total.added} -${total.removed}`,
    ...columns(rows).map((line) => `  ${line}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

function checkLines({ check }: CodeReview): readonly Line[] {
  if (check === null) return ['Checks  not run on this exact commit'];
  const { command, summary = command, passed, exitCode, output, durationMs, parts = [] } = check;
  const lines = output.trimEnd().split('\n').slice(-SHOWN.output);
  const times = parts.flatMap(({ name, durationMs: ms }) =>
    ms === undefined ? [] : [`${name} ${formatCheckTime(ms)}`],
  );
  const took = durationMs === undefined ? '' : ` in ${formatCheckTime(durationMs)}`;
  return [
    `Checks  ${passed ? 'passed' : `FAILED (${exitCode ?? 'ended by a signal'})`}: ${summary}${took}`,
    ...(times.length > 0 ? [oneLine(`Times   ${times.join(', ')}`)] : []),
    ...lines.map((line) => `  ${line}`),
  ];
}

/** Seconds with a tenth, or minutes and seconds. */
export function formatCheckTime(ms: number): string {
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const signedCount = (sign: '+' | '-', count: number | null): string =>
  count === null ? 'binary' : `${sign}${count}`;

const short = (sha: string): string => sha.slice(0, 7);
