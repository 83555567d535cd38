import { useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import type { Documents, PlanArtifact, ShownDocument, ShownTask } from './artifacts.ts';
import { decidedDocumentsFirst, isDocuments, isPlan } from './artifacts.ts';
import { MarkedText, Pieces, taskNamed, useEarlierPlan } from './gate/Changes.tsx';
import { CommentedLine, CommentedMarkdown, SourceLines } from './gate/Commented.tsx';
import { useGate } from './gate/gateOnPage.ts';
import { textChanges } from './gate/textChanges.ts';
import { PlanPicture } from './graph/PlanPicture.tsx';
import { Markdown } from './Markdown.tsx';
import { formatNumbered, taskTag } from './words.ts';

/** What is decided on. */
export function Proposal({ artifact }: { readonly artifact: unknown }) {
  if (isDocuments(artifact)) return <DocumentsView shown={artifact} />;
  if (isPlan(artifact)) return <PlanView plan={artifact} />;
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
        <p class="wait">Named but not in the repository: {unknownFiles.join(', ')}</p>
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
    <article class="doc panel" data-section data-place-of={type} tabIndex={-1}>
      <header class="doc-h">
        <h2>{title}</h2>
        <span class="q3">
          {type}, version {version}
        </span>
        <span class="grow" />
        <button
          type="button"
          class="btn quiet sm"
          aria-pressed={isSource.value}
          onClick={() => {
            isSource.value = !isSource.value;
          }}
        >
          Source
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
  const earlier = useEarlierPlan();
  const said = new Map(earlier?.requirements.map((each) => [each.externalId, each.description] as const));
  return (
    <>
      <PlanPicture
        tasks={tasks.map((task) => pictured(task, earlier))}
        isNewEdge={newEdges(tasks, earlier)}
      />
      {epics.map(({ epicId, name, description }) => (
        <section key={epicId}>
          <h2 class="doc-h">{name}</h2>
          <Markdown text={description} />
          {tasks
            .filter((task) => task.epicId === epicId)
            .sort((a, b) => taskTag(a.taskId).localeCompare(taskTag(b.taskId), 'en', { numeric: true }))
            .map((task) => (
              <TaskCard key={task.taskId} task={task} names={names} />
            ))}
        </section>
      ))}
      <GoneTasks earlier={earlier} tasks={tasks} />
      <section data-section tabIndex={-1} aria-labelledby="requirements-h">
        <h2 class="doc-h" id="requirements-h">
          Requirements
        </h2>
        <dl class="requirements panel">
          {requirements.map(({ requirementId, externalId, description }) => (
            <div key={requirementId}>
              <dt>{externalId}</dt>
              <dd class="lines">
                <CommentedLine place={externalId} line={1} text={description}>
                  <MarkedText
                    text={description}
                    before={earlier === null ? null : (said.get(externalId) ?? '')}
                  />
                </CommentedLine>
              </dd>
            </div>
          ))}
        </dl>
      </section>
    </>
  );
}

type Tasks = PlanArtifact['tasks'];

/** A box of the picture, with the number of its criteria, and of new ones. */
function pictured(task: ShownTask, earlier: PlanArtifact | null) {
  const { taskId, acceptanceCriteria } = task;
  const before = earlier === null ? null : taskNamed(earlier, taskTag(taskId));
  const known = before?.acceptanceCriteria ?? [];
  const added = acceptanceCriteria.filter((each) => !known.includes(each)).length;
  const news = before === undefined ? 'new' : before !== null && added > 0 ? `${added} new` : '';
  return { ...task, detail: formatNumbered(acceptanceCriteria.length, 'criterion', 'criteria'), news };
}

/** By the ids of the tasks. */
function newEdges(tasks: Tasks, earlier: PlanArtifact | null): (from: string, to: string) => boolean {
  if (earlier === null) return () => false;
  const known = new Set(
    earlier.tasks.flatMap(({ taskId, dependsOn }) =>
      dependsOn.map((from) => `${taskTag(from)} ${taskTag(taskId)}`),
    ),
  );
  const ids = new Set(tasks.map(({ taskId }) => taskId));
  return (from, to) => ids.has(from) && !known.has(`${taskTag(from)} ${taskTag(to)}`);
}

/** Tasks that the plan does not have any more. */
function GoneTasks({ earlier, tasks }: { readonly earlier: PlanArtifact | null; readonly tasks: Tasks }) {
  const labels = new Set(tasks.map(({ taskId }) => taskTag(taskId)));
  const gone = (earlier?.tasks ?? []).filter(({ taskId }) => !labels.has(taskTag(taskId)));
  return (
    <>
      {gone.map(({ taskId, name }) => (
        <p key={taskId} class="gone">
          <del>
            {taskTag(taskId)} {name}
          </del>
        </p>
      ))}
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
  const { taskId, name, description } = task;
  const label = taskTag(taskId);
  const earlier = useEarlierPlan();
  const before = earlier === null ? null : (taskNamed(earlier, label) ?? null);
  return (
    <article class="card task panel lines" data-section data-place-of={label} tabIndex={-1}>
      <CommentedLine place={label} line={1} text={name}>
        <header>
          <h3>
            <span class="tid">{label}</span>{' '}
            <MarkedText text={name} before={earlier === null ? null : (before?.name ?? '')} />
          </h3>
          <TaskChips task={task} names={names} before={before} />
        </header>
      </CommentedLine>
      <CommentedMarkdown place={label} text={description} after={1} />
      <Criteria task={task} before={earlier === null ? null : (before?.acceptanceCriteria ?? [])} />
    </article>
  );
}

interface ChipsOf {
  readonly task: ShownTask;
  readonly names: ReadonlyMap<string, string>;
  /** `null` without marks, and for a new task. */
  readonly before: ShownTask | null;
}

function TaskChips({ task, names, before }: ChipsOf) {
  const { requirementIds, kind, checkedBy } = task;
  const order = orderWords(task);
  const was = before === null ? order : orderWords(before);
  return (
    <span class="reqs">
      {was !== order && <del class="chip">{was}</del>}
      <span class={`chip ${was === order ? '' : 'new'}`}>{order}</span>
      {requirementIds.map((id) => (
        <span key={id} class="chip">
          {names.get(id) ?? id}
        </span>
      ))}
      {kind === 'behaviour-kept' && <span class="chip">behaviour kept</span>}
      {kind === 'checked-by' && <span class="chip">checked by {checkedBy}</span>}
    </span>
  );
}

const orderWords = ({ dependsOn }: ShownTask): string =>
  dependsOn.length === 0 ? 'first' : `after ${dependsOn.map(taskTag).join(', ')}`;

interface CriteriaOf {
  readonly task: ShownTask;
  /** `null` without marks. */
  readonly before: readonly string[] | null;
}

function Criteria({ task: { taskId, name, description, acceptanceCriteria }, before }: CriteriaOf) {
  if (acceptanceCriteria.length === 0 && (before ?? []).length === 0) return null;
  const { units, goneAfter } = textChanges(before ?? acceptanceCriteria, acceptanceCriteria);
  return (
    <>
      <p class="sub">Done when</p>
      <ul class="criteria">
        {linesAfter(`${name}\n${description}`, acceptanceCriteria).map(({ line, text }, at) => (
          <Fragment key={line}>
            <Gone texts={units[at]?.goneBefore ?? []} />
            <li>
              <CommentedLine place={taskTag(taskId)} line={line} text={text}>
                <Pieces pieces={units[at]?.pieces ?? []} />
              </CommentedLine>
            </li>
          </Fragment>
        ))}
        <Gone texts={goneAfter} />
      </ul>
    </>
  );
}

const Gone = ({ texts }: { readonly texts: readonly string[] }) => (
  <>
    {texts.map((text) => (
      <li key={text} class="gone">
        <del>{text}</del>
      </li>
    ))}
  </>
);

/** Each with the line it begins on, below what stands above. */
function linesAfter(above: string, texts: readonly string[]) {
  let line = above.split('\n').length + 1;
  return texts.map((text) => {
    const own = { line, text };
    line += text.split('\n').length;
    return own;
  });
}
