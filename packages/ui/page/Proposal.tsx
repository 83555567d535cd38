import { useSignal } from '@preact/signals';
import type { Documents, PlanArtifact, Review, ShownDocument, ShownTask } from './artifacts.ts';
import { decidedDocumentsFirst, isDocuments, isPlan, isReview } from './artifacts.ts';
import { CommentedLine, CommentedMarkdown, SourceLines } from './gate/Commented.tsx';
import { useGate } from './gate/gateOnPage.ts';
import { PlanPicture } from './graph/PlanPicture.tsx';
import { Markdown } from './Markdown.tsx';
import { Section } from './parts.tsx';
import { taskTag } from './words.ts';

/** What is decided on. */
export function Proposal({ artifact }: { readonly artifact: unknown }) {
  if (isDocuments(artifact)) return <DocumentsView shown={artifact} />;
  if (isPlan(artifact)) return <PlanView plan={artifact} />;
  if (isReview(artifact)) return <ReviewView review={artifact} />;
  return <AsPrinted text={typeof artifact === 'string' ? artifact : JSON.stringify(artifact, null, 2)} />;
}

/** What a gate of one's own shows is commented on as a whole. */
function AsPrinted({ text }: { readonly text: string }) {
  return useGate()?.takesComments === true ? (
    <SourceLines place="" text={text} />
  ) : (
    <pre class="artifact">{text}</pre>
  );
}

function DocumentsView({ shown: { documents, unknownFiles = [] } }: { readonly shown: Documents }) {
  return (
    <>
      {unknownFiles.length > 0 && (
        <p class="warning">Named but not in the repository: {unknownFiles.join(', ')}</p>
      )}
      {decidedDocumentsFirst(documents).map((document) => (
        <DocumentView key={document.title} document={document} />
      ))}
    </>
  );
}

function DocumentView({ document: { type, title, content, version } }: { readonly document: ShownDocument }) {
  const isSource = useSignal(false);
  return (
    <article>
      <header>
        <h2>{title}</h2>
        <span class="quiet">
          {type}, version {version}
        </span>
        <button
          type="button"
          class="plain"
          aria-pressed={isSource.value}
          onClick={() => {
            isSource.value = !isSource.value;
          }}
        >
          Show source
        </button>
      </header>
      {isSource.value ? (
        <SourceLines place={type} text={content} />
      ) : (
        <CommentedMarkdown place={type} text={content} />
      )}
    </article>
  );
}

function PlanView({ plan: { requirements, epics, tasks } }: { readonly plan: PlanArtifact }) {
  const names = new Map(requirements.map(({ requirementId, externalId }) => [requirementId, externalId]));
  return (
    <>
      <PlanPicture tasks={tasks} />
      {epics.map(({ epicId, name, description }) => (
        <Section key={epicId} title={name}>
          <Markdown text={description} />
          <div class="cards">
            {tasks
              .filter((task) => task.epicId === epicId)
              .sort((a, b) => taskTag(a.taskId).localeCompare(taskTag(b.taskId), 'en', { numeric: true }))
              .map((task) => (
                <TaskCard key={task.taskId} task={task} names={names} />
              ))}
          </div>
        </Section>
      ))}
      <Section title="Requirements">
        <dl class="requirements">
          {requirements.map(({ requirementId, externalId, description }) => (
            <div key={requirementId}>
              <dt>{externalId}</dt>
              <dd>
                <CommentedLine place={externalId} line={1} text={description}>
                  {description}
                </CommentedLine>
              </dd>
            </div>
          ))}
        </dl>
      </Section>
    </>
  );
}

function TaskCard({
  task,
  names,
}: {
  readonly task: ShownTask;
  readonly names: ReadonlyMap<string, string>;
}) {
  const { taskId, name, description, dependsOn, requirementIds, acceptanceCriteria, kind, checkedBy } = task;
  const label = taskTag(taskId);
  return (
    <article class="card">
      <CommentedLine place={label} line={1} text={name}>
        <header>
          <strong class="number">{label}</strong>
          <h3>{name}</h3>
        </header>
      </CommentedLine>
      <CommentedMarkdown place={label} text={description} after={1} />
      {acceptanceCriteria.length > 0 && (
        <ul class="criteria">
          {linesAfter(`${name}\n${description}`, acceptanceCriteria).map(({ line, text }) => (
            <li key={line}>
              <CommentedLine place={label} line={line} text={text}>
                {text}
              </CommentedLine>
            </li>
          ))}
        </ul>
      )}
      <footer class="quiet">
        {dependsOn.length > 0 && <span>after {dependsOn.map(taskTag).join(', ')}</span>}
        {requirementIds.length > 0 && (
          <span>{requirementIds.map((id) => names.get(id) ?? id).join(', ')}</span>
        )}
        {kind === 'behaviour-kept' && <span>behaviour kept</span>}
        {kind === 'checked-by' && <span>checked by {checkedBy}</span>}
      </footer>
    </article>
  );
}

/** Each with the line it begins on, below what stands above. */
function linesAfter(above: string, texts: readonly string[]) {
  let line = above.split('\n').length + 1;
  return texts.map((text) => {
    const own = { line, text };
    line += text.split('\n').length;
    return own;
  });
}

/** A criterion is a line, and what shows it is the next one. */
function criteriaLines(name: string, criteria: Review['tasks'][number]['criteria']) {
  const texts = criteria.map(({ criterion, shownBy }) => [criterion, ...(shownBy === null ? [] : [shownBy])]);
  const lines = linesAfter(
    name,
    texts.map((each) => each.join('\n')),
  );
  return criteria.map((each, at) => ({ ...each, line: lines[at]?.line ?? 1 }));
}

function ReviewedCard({ task }: { readonly task: Review['tasks'][number] }) {
  const { taskId, name, criteria, losses = [], findings = [] } = task;
  return (
    <article class="card">
      <header>
        <strong class="number">{taskTag(taskId)}</strong>
        <h3>{name}</h3>
      </header>
      <ul class="criteria">
        {criteriaLines(name, criteria).map(({ line, criterion, shownBy }) => (
          <li key={line}>
            <CommentedLine
              place={taskTag(taskId)}
              line={line}
              text={criterion}
              isOf={(at) => at === line || at === line + 1}
            >
              {criterion} <span class="quiet">{shownBy ?? 'no evidence named'}</span>
            </CommentedLine>
          </li>
        ))}
      </ul>
      {losses.map(({ path, words }) => (
        <p key={words} class="warning">
          {path === null ? '' : `${path}: `}
          {words}
        </p>
      ))}
      {findings.map((finding) => (
        <p key={finding} class="warning">
          {finding}
        </p>
      ))}
    </article>
  );
}

function ReviewView({
  review: { epicName, tasks, range, check, rejections, notes = [] },
}: {
  readonly review: Review;
}) {
  return (
    <>
      {epicName !== null && <h2>{epicName}</h2>}
      {tasks.map((task) => (
        <ReviewedCard key={task.taskId} task={task} />
      ))}
      {rejections.map(({ by, at, feedback }) => (
        <blockquote key={at} class="feedback">
          <p>{feedback}</p>
          <footer class="quiet">rejected by {by}</footer>
        </blockquote>
      ))}
      <p class="meta">
        {range.total.files} files, <span class="added">+{range.total.added}</span>{' '}
        <span class="removed">-{range.total.removed}</span>
      </p>
      {check === null ? (
        <p class="warning">The checks were not run on this exact commit.</p>
      ) : (
        <details open={!check.passed}>
          <summary>
            checks {check.passed ? 'passed' : 'FAILED'}: <code>{check.summary ?? check.command}</code>
          </summary>
          <pre class="artifact">{check.output}</pre>
        </details>
      )}
      {notes.map((note) => (
        <p key={note} class="warning">
          {note}
        </p>
      ))}
    </>
  );
}
