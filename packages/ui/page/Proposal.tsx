import { useSignal } from '@preact/signals';
import type { Documents, PlanArtifact, ShownDocument, ShownTask } from './artifacts.ts';
import { decidedDocumentsFirst, isDocuments, isPlan } from './artifacts.ts';
import { CommentedLine, CommentedMarkdown, SourceLines } from './gate/Commented.tsx';
import { useGate } from './gate/gateOnPage.ts';
import { PlanPicture } from './graph/PlanPicture.tsx';
import { Markdown } from './Markdown.tsx';
import { taskTag } from './words.ts';

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
  return (
    <>
      <PlanPicture tasks={tasks} />
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
                  {description}
                </CommentedLine>
              </dd>
            </div>
          ))}
        </dl>
      </section>
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
    <article class="card task panel lines" data-section data-place-of={label} tabIndex={-1}>
      <CommentedLine place={label} line={1} text={name}>
        <header>
          <h3>
            <span class="tid">{label}</span> {name}
          </h3>
          <span class="reqs">
            {dependsOn.length === 0 ? (
              <span class="chip">first</span>
            ) : (
              <span class="chip">after {dependsOn.map(taskTag).join(', ')}</span>
            )}
            {requirementIds.map((id) => (
              <span key={id} class="chip">
                {names.get(id) ?? id}
              </span>
            ))}
            {kind === 'behaviour-kept' && <span class="chip">behaviour kept</span>}
            {kind === 'checked-by' && <span class="chip">checked by {checkedBy}</span>}
          </span>
        </header>
      </CommentedLine>
      <CommentedMarkdown place={label} text={description} after={1} />
      {acceptanceCriteria.length > 0 && (
        <>
          <p class="sub">Done when</p>
          <ul class="criteria">
            {linesAfter(`${name}\n${description}`, acceptanceCriteria).map(({ line, text }) => (
              <li key={line}>
                <CommentedLine place={label} line={line} text={text}>
                  {text}
                </CommentedLine>
              </li>
            ))}
          </ul>
        </>
      )}
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
