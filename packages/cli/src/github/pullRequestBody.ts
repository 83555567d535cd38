import {
  type ClosedGate,
  type LogEntry,
  maskSensitiveData,
  type PipelineRunInfo,
  type Run,
  shownGate,
} from '@devs/core';
import { type CodeReview, formatCheck } from '@devs/core/internal';
import { fencedBlock, inlineText } from '../render/markdownText.ts';
import { isCodeReview } from '../render/renderCodeReview.ts';
import { sentence, taskLabelOrEmpty } from '../render/sentence.ts';
import { oneLine, visibleText } from '../terminal/visible.ts';
import { githubFailed } from './callGh.ts';
import { ISSUE_KEY } from './issueBrief.ts';

/** The parts of a run that its pull request shows. */
export interface ReviewedRun {
  readonly status: PipelineRunInfo;
  readonly state: Awaited<ReturnType<Run['state']>>;
  readonly closedGates: readonly ClosedGate[];
  /** Oldest first. */
  readonly decisions: readonly LogEntry[];
  /** The newest of the branch. */
  readonly commit: string;
}

type Task = NonNullable<ReviewedRun['state']>['tasks'][number];

/** Of GitHub, in characters. */
const MAX = { title: 256, body: 65_536 };

/** Of the output of the checks. */
const OUTPUT_LINES = 20;

/** Masked, in one line. */
export function pullRequestTitle({ id, title }: Pick<PipelineRunInfo, 'id' | 'title'>): string {
  const characters = [...visibleText(oneLine(maskSensitiveData(title)).trim())];
  if (characters.length === 0) return id;
  return characters.length <= MAX.title
    ? characters.join('')
    : `${characters.slice(0, MAX.title - 1).join('')}…`;
}

/**
 * Masked before it is escaped, which could hide a secret from the mask. Cannot mention or refer: GitHub
 * notifies people by their names, and closes issues by words.
 */
const foreign = (text: string): string =>
  visibleText(inlineText(maskSensitiveData(text))).replaceAll(
    /@(?=\w)|#(?=\d)|\bGH-(?=\d)|:(?=\/\/)/gi,
    '$&<!-- -->',
  );

/** The review of a run: its tasks, its checks, its decisions. One line per entry. */
export function reviewMarkdown(run: ReviewedRun): readonly string[] {
  const { status, state, commit } = run;
  const issue = status.metadata[ISSUE_KEY];
  const isIssue = typeof issue === 'string' && /^[a-z0-9_-]+\/[a-z0-9._-]+#\d+$/.test(issue);
  const review = lastReview(run);
  const tasks = state?.tasks ?? [];
  return [
    `Made by the devs run \`${status.id}\`, which is **${status.status}** at ${short(commit)}.`,
    '',
    ...(isIssue ? [`${status.status === 'completed' ? 'Closes' : 'For'} ${issue}`, ''] : []),
    '### Tasks',
    '',
    ...tasks.flatMap(taskLines),
    ...(review?.notes ?? []).map((note) => `- Note: ${foreign(note)}`),
    ...checkLines(review, tasks, commit),
    '### Decisions',
    '',
    ...decisionLines(run),
  ];
}

function lastReview({ status, closedGates }: ReviewedRun): CodeReview | null {
  const artifacts = [...closedGates, ...status.gates].map((gate) => shownGate(gate).artifact);
  return artifacts.findLast(isCodeReview) ?? null;
}

function taskLines(task: Task): readonly string[] {
  const { taskId, name, status, gitHash, acceptanceCriteria = [], evidence = [] } = task;
  const { losses = [], findings = [] } = task;
  const at = gitHash === undefined ? '' : `, ${short(gitHash)}`;
  const shown = new Map(evidence.map(({ criterion, shownBy }) => [criterion, shownBy]));
  const lost = losses.map(({ path, words }) => `${path === null ? '' : `${path}: `}${words}`);
  return [
    `**${taskLabelOrEmpty(taskId)} ${foreign(name)}** (${status}${at})`,
    '',
    ...acceptanceCriteria.map(
      (criterion) => `- ${foreign(criterion)}: ${foreign(shown.get(criterion) ?? 'no evidence named')}`,
    ),
    ...[...lost, ...findings].map((words) => `- ⚠ ${foreign(words)}`),
    '',
  ];
}

function checkLines(review: CodeReview | null, tasks: readonly Task[], commit: string): readonly string[] {
  const check = recordedCheck(review, tasks);
  const head = ['### Checks', ''];
  if (check === null) return [...head, 'No result was recorded.', ''];
  const { passed, summary, output } = check;
  const reviewed = review?.range.to ?? commit;
  const masked = visibleText(maskSensitiveData(output)).trimEnd();
  const end = masked.split('\n').slice(-OUTPUT_LINES).join('\n');
  return [
    ...head,
    `${passed ? 'Passed' : '**Failed**'}: ${foreign(summary)}`,
    '',
    ...(reviewed === commit
      ? []
      : [`The last review was of ${short(reviewed)}, without the newer commits.`, '']),
    ...(end.trim() === '' ? [] : fencedBlock('text', end).flatMap((part) => part.split('\n'))),
  ];
}

/** Of the last review, else of the last task. */
function recordedCheck(review: CodeReview | null, tasks: readonly Task[]) {
  if (review?.check) return { summary: review.check.command, ...review.check };
  const check = tasks.findLast(({ green }) => green !== undefined)?.green?.check;
  return check === undefined ? null : { ...check, summary: formatCheck(check) };
}

function decisionLines({ decisions, status }: ReviewedRun): readonly string[] {
  const told = decisions.map(
    ({ at, payload }) => `- ${at}: ${foreign(sentence('HITL_SESSION_DECIDED', payload as never) ?? '')}`,
  );
  const open = status.gates.map(({ message }) => `- Open: ${foreign(message)}`);
  return told.length + open.length === 0 ? ['None was asked for.'] : [...told, ...open];
}

const short = (sha: string): string => sha.slice(0, 7);

/**
 * The body of a pull request with this review in it: in the place of an earlier one of the same run, else after the
 * text of people. Their text stays.
 *
 * @throws DevsError `GITHUB_FAILED` if that leaves too little room.
 */
export function bodyWith(existing: string, review: readonly string[], id: string): string {
  const marks = { begin: `<!-- devs run ${id} -->`, end: `<!-- end of devs run ${id} -->` };
  const from = existing.indexOf(marks.begin);
  const to = existing.lastIndexOf(marks.end);
  const isThere = from >= 0 && to > from;
  const before = isThere
    ? existing.slice(0, from)
    : existing.trim() === ''
      ? ''
      : `${existing.trimEnd()}\n\n`;
  const after = isThere ? existing.slice(to + marks.end.length) : '';
  const room = MAX.body - before.length - after.length - marks.begin.length - marks.end.length - 2;
  return `${before}${marks.begin}\n${fitting(review, room, id)}\n${marks.end}${after}`;
}

/** Whole lines, with a sentence in the place of those beyond the limit. */
function fitting(lines: readonly string[], room: number, id: string): string {
  const whole = lines.join('\n').trimEnd();
  if (whole.length <= room) return whole;
  const sentenceOfRest = `The rest is left out, because GitHub takes ${MAX.body.toLocaleString('en')} characters. To read it: \`devs explain ${id}\`, \`devs log ${id}\`.`;
  const kept: string[] = [];
  let left = room - sentenceOfRest.length - 2;
  let fence: string | null = null;
  for (const line of lines) {
    const [mark = null] = /^`{3,}/.exec(line) ?? [];
    const next: string | null = fence === null ? mark : line === fence ? null : fence;
    // An open fence has to be closed.
    if (line.length + 1 + (next?.length ?? 0) + 1 > left) break;
    left -= line.length + 1;
    kept.push(line);
    fence = next;
  }
  if (kept.length === 0) {
    throw githubFailed(
      'The text of the pull request leaves no room for the review.',
      'Shorten it, then run the command again.',
    );
  }
  return [...kept, ...(fence === null ? [] : [fence]), '', sentenceOfRest].join('\n');
}
