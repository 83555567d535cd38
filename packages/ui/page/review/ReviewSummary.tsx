import type { GateWork } from '../../src/views/gateWork.ts';
import type { Review } from '../artifacts.ts';
import { CommentedLine } from '../gate/Commented.tsx';
import { Icon } from '../icons.tsx';
import { formatDuration, formatNumbered, taskTag } from '../words.ts';
import { showFile } from './FileTree.tsx';
import type { Evidence } from './reviewFiles.ts';

interface SummaryOf {
  readonly review: Review;
  readonly evidence: readonly Evidence[];
  /** Whether the diff is read. Before, the places of evidence are unknown. */
  readonly isRead: boolean;
}

interface WholeSummaryOf extends SummaryOf {
  readonly work: GateWork | null;
}

/** Criteria with their evidence, and the checks. */
export function ReviewSummary({ review, evidence, isRead, work }: WholeSummaryOf) {
  const shown = evidence.filter(({ shownBy }) => shownBy !== null).length;
  return (
    <div class="panel sum">
      <section aria-labelledby="crit-h">
        <h2 id="crit-h">
          {shown} of {evidence.length}{' '}
          {evidence.length === 1 ? 'criterion has evidence' : 'criteria have evidence'}
        </h2>
        {review.tasks.map((task) => (
          <TaskCriteria key={task.taskId} task={task} evidence={evidence} isRead={isRead} review={review} />
        ))}
      </section>
      <section aria-labelledby="chk-h">
        <Checks check={review.check} ms={work?.checkMs ?? null} />
        {(work?.said ?? []).map(({ taskId, words }) => (
          <Reviewer key={taskId} whose={review.tasks.length > 1 ? taskTag(taskId) : ''} words={words} />
        ))}
        {(review.notes ?? []).map((note) => (
          <Warning key={note}>{note}</Warning>
        ))}
        <Rejections review={review} />
      </section>
    </div>
  );
}

interface TaskCriteriaOf extends SummaryOf {
  readonly task: Review['tasks'][number];
}

function TaskCriteria({ task, evidence, isRead, review }: TaskCriteriaOf) {
  const { taskId, name, criteria, losses = [], findings = [] } = task;
  return (
    <>
      {review.tasks.length > 1 && (
        <h3>
          <span class="q3">{taskTag(taskId)}</span> {name}
        </h3>
      )}
      <ul>
        {criteriaLines(name, criteria).map(({ line, criterion }, at) => (
          <li key={line} class="ev">
            <CommentedLine
              place={taskTag(taskId)}
              line={line}
              text={criterion}
              isOf={(number) => number === line || number === line + 1}
            >
              <Criterion evidence={evidenceFor(evidence, criteria[at])} isRead={isRead} />
            </CommentedLine>
          </li>
        ))}
      </ul>
      {losses.map(({ path, words }) => (
        <Warning key={words}>{path === null ? words : `${path}: ${words}`}</Warning>
      ))}
      {findings.map((finding) => (
        <Warning key={finding}>{finding}</Warning>
      ))}
    </>
  );
}

const Warning = ({ children }: { readonly children: string }) => (
  <p class="wait loss">
    <Icon name="warning" />
    <span>{children}</span>
  </p>
);

const evidenceFor = (
  evidence: readonly Evidence[],
  criterion: Review['tasks'][number]['criteria'][number] | undefined,
): Evidence =>
  evidence.find((each) => each.criterion === criterion?.criterion && each.shownBy === criterion.shownBy) ?? {
    criterion: criterion?.criterion ?? '',
    shownBy: criterion?.shownBy ?? null,
    path: null,
    line: null,
  };

function Criterion({ evidence, isRead }: { readonly evidence: Evidence; readonly isRead: boolean }) {
  const { criterion, shownBy, path, line } = evidence;
  const isWeak = shownBy === null || (isRead && path === null);
  return (
    <div class="crit">
      <Icon name={isWeak ? 'warning' : 'check'} tone={isWeak ? 'wait' : 'ok'} />
      <div>
        <b>{criterion}</b> {shownBy === null && <span class="wait">no evidence named</span>}
        {shownBy !== null && path === null && (
          <span class={isRead ? 'wait' : 'q3'}>
            <code>{shownBy}</code>
            {isRead && ', outside the diff'}
          </span>
        )}
        {shownBy !== null && path !== null && (
          <button type="button" class="evs" onClick={() => showFile(path, line)}>
            <code>{shownBy}</code>
          </button>
        )}
      </div>
    </div>
  );
}

/** A criterion is a line, and its evidence is the next one. */
function criteriaLines(name: string, criteria: Review['tasks'][number]['criteria']) {
  let line = name.split('\n').length + 1;
  return criteria.map(({ criterion, shownBy }) => {
    const own = { criterion, line };
    line += criterion.split('\n').length + (shownBy === null ? 0 : shownBy.split('\n').length);
    return own;
  });
}

type Check = NonNullable<Review['check']>;

interface ChecksOf {
  readonly check: Review['check'];
  /** Of all checks together; `null` where it is not recorded. */
  readonly ms: number | null;
}

function Checks({ check, ms }: ChecksOf) {
  if (check === null) {
    return (
      <>
        <h2 id="chk-h">Checks</h2>
        <Warning>The checks were not run on this exact commit.</Warning>
      </>
    );
  }
  const parts = check.parts ?? [{ ...check, name: check.command }];
  const isTimed = parts.length === 1 && parts[0]?.durationMs !== undefined;
  const passed = parts.filter((part) => part.passed).length;
  return (
    <>
      <h2 id="chk-h">
        Checks{' '}
        <span class={check.passed ? 'ok' : 'bad'}>
          {passed} of {parts.length} passed
        </span>
        {ms !== null && !isTimed && <span class="q3"> in {formatDuration(ms)}</span>}
      </h2>
      <ul class="checks">
        {parts.map((part) => (
          <li key={part.name}>
            <Icon name={part.passed ? 'check' : 'cross'} tone={part.passed ? 'ok' : 'bad'} />
            <code>{part.name}</code>
            <span class="q2 grow">{part.passed ? 'passed' : 'failed'}</span>
            {part.durationMs !== undefined && <span class="q3 time">{formatDuration(part.durationMs)}</span>}
          </li>
        ))}
      </ul>
      {check.cases !== undefined && <p class="q2 cases">{formatCases(check.cases)}</p>}
      <details open={!check.passed}>
        <summary>
          Output of <code>{check.command}</code>
          {check.summary !== undefined && <span class="q2">: {check.summary}</span>}
        </summary>
        <pre class="artifact">{check.output}</pre>
      </details>
    </>
  );
}

/** The first sentence of the reviewing agent, and the whole text on click. */
function Reviewer({ whose, words }: { readonly whose: string; readonly words: string }) {
  const [first = words] = /^[\s\S]*?[.!?](?=\s|$)/.exec(words) ?? [];
  const head = (
    <>
      <Icon name="comment" tone="agent" />
      <span>
        Reviewer {whose} <q>{first.trim()}</q>
      </span>
    </>
  );
  if (first.trim() === words.trim()) return <p class="reviewer">{head}</p>;
  return (
    <details class="reviewer">
      <summary>
        {head}
        <span class="link">all</span>
      </summary>
      <p class="q2">{words}</p>
    </details>
  );
}

function formatCases({ passed, failed, skipped }: NonNullable<Check['cases']>): string {
  const all = passed + failed + skipped;
  const parts = [...(failed > 0 ? [`${failed} failed`] : []), ...(skipped > 0 ? [`${skipped} skipped`] : [])];
  return [formatNumbered(all, 'case'), ...parts].join(', ');
}

function Rejections({ review: { rejections } }: { readonly review: Review }) {
  return (
    <>
      {rejections.map(({ by, at, feedback }) => (
        <blockquote key={at} class="feedback">
          <p>{feedback}</p>
          <footer class="q3">sent back by {by}</footer>
        </blockquote>
      ))}
    </>
  );
}
