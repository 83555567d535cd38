import type { InboxView, RunLine, RunsView, WaitingLine, WaitingView } from '../src/views/inboxView.ts';
import { Ago, Section, Status } from './parts.tsx';
import { gateHref, inboxHref, olderRunsHref, runHref, waitingHref } from './place.ts';
import { formatDollars } from './words.ts';

export function Inbox({ view }: { readonly view: InboxView }) {
  return (
    <>
      <h1>Inbox</h1>
      {view.total === 0 ? <p class="empty">There are no open gates.</p> : <GateRows view={view} />}
      {view.stopped.length > 0 && (
        <Section title="Stopped without a gate">
          <RunRows runs={view.stopped} />
        </Section>
      )}
      <Section title="Runs">
        {view.runs.length === 0 ? <p class="empty">There are no runs yet.</p> : <RunPage view={view} />}
      </Section>
    </>
  );
}

/** A later page of the gates that wait. */
export function Waiting({ view }: { readonly view: WaitingView }) {
  return (
    <>
      <h1>Inbox</h1>
      <GateRows view={view} />
      <ToInbox />
    </>
  );
}

/** A later page of the runs. */
export function Runs({ view }: { readonly view: RunsView }) {
  return (
    <>
      <h1>Older runs</h1>
      <RunPage view={view} />
      <ToInbox />
    </>
  );
}

const ToInbox = () => (
  <p>
    <a class="row" href={inboxHref}>
      Back to the inbox
    </a>
  </p>
);

function GateRows({ view: { gates, total, nextGates } }: { readonly view: WaitingView }) {
  return (
    <>
      <ul class="rows">
        {gates.map((gate) => (
          <GateRow key={gate.sessionId} gate={gate} />
        ))}
      </ul>
      {nextGates !== null && (
        <a class="row more" href={waitingHref(nextGates)}>
          {gates.length} of {total}, oldest first: show more
        </a>
      )}
    </>
  );
}

function GateRow({ gate }: { readonly gate: WaitingLine }) {
  return (
    <li>
      <a class="row" href={gateHref(gate.threadId, gate.sessionId)}>
        <strong>{gate.about}</strong>
        <span class="grow">
          {gate.title}
          {gate.message !== '' && <span class="quiet asked"> {gate.message}</span>}
        </span>
        <span class="quiet">{gate.threadId}</span>
        <span class="quiet">{gate.behind} behind it</span>
        <span class="quiet number">{formatDollars(gate.cost.costUsd)}</span>
        <span class="quiet number">
          <Ago at={gate.openedAt} />
        </span>
      </a>
    </li>
  );
}

function RunPage({ view: { runs, nextRuns } }: { readonly view: RunsView }) {
  return (
    <>
      <RunRows runs={runs} />
      {nextRuns !== null && (
        <a class="row more" href={olderRunsHref(nextRuns)}>
          Older runs
        </a>
      )}
    </>
  );
}

function RunRows({ runs }: { readonly runs: readonly RunLine[] }) {
  return (
    <ul class="rows">
      {runs.map((run) => (
        <li key={run.id}>
          <a class="row" href={runHref(run.id)}>
            <Status value={run.status} />
            <span class="grow">
              {run.title} <span class="quiet">{whyStopped(run)}</span>
            </span>
            {run.tasks.total > 0 && (
              <span class="quiet number">
                {run.tasks.completed}/{run.tasks.total} tasks
              </span>
            )}
            <span class="quiet number">{formatDollars(run.cost.costUsd)}</span>
            <span class="quiet number">
              <Ago at={run.updatedAt} />
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Recorded data; of a driver that has died, nobody could record it. */
const whyStopped = ({ status, reason, driver }: RunLine): string =>
  reason ??
  (status === 'running' && driver === null ? 'its process has died: resume it with devs resume' : '');
