import type { GateLine, InboxView, RunLine } from '../src/views/inboxView.ts';
import { Ago, Section, Status } from './parts.tsx';
import { gateHref, runHref } from './place.ts';
import { usdWords } from './words.ts';

export function Inbox({ view: { gates, runs } }: { readonly view: InboxView }) {
  const stopped = runs.filter(({ status, openGates }) => openGates === 0 && status === 'failed');
  return (
    <>
      <h1>Inbox</h1>
      {gates.length === 0 ? (
        <p class="empty">Nothing waits for you.</p>
      ) : (
        <ul class="rows">
          {gates.map((gate) => (
            <GateRow key={gate.sessionId} gate={gate} run={runs.find(({ id }) => id === gate.threadId)} />
          ))}
        </ul>
      )}
      {stopped.length > 0 && (
        <Section title="Stopped without a question">
          <RunRows runs={stopped} />
        </Section>
      )}
      <Section title="Runs">
        {runs.length === 0 ? <p class="empty">There are none yet.</p> : <RunRows runs={runs} />}
      </Section>
    </>
  );
}

function GateRow({ gate, run }: { readonly gate: GateLine; readonly run: RunLine | undefined }) {
  return (
    <li>
      <a class="row" href={gateHref(gate.threadId, gate.sessionId)}>
        <strong>{gate.about}</strong>
        <span class="grow">{run?.title ?? gate.threadId}</span>
        <span class="quiet">{gate.threadId}</span>
        <span class="quiet number">{usdWords(run?.cost.costUsd ?? 0)}</span>
        <span class="quiet number">
          <Ago at={gate.openedAt} />
        </span>
      </a>
    </li>
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
              {run.title}
              {run.reason !== null && <span class="quiet"> {run.reason}</span>}
            </span>
            {run.tasks.total > 0 && (
              <span class="quiet number">
                {run.tasks.completed}/{run.tasks.total} tasks
              </span>
            )}
            <span class="quiet number">{usdWords(run.cost.costUsd)}</span>
            <span class="quiet number">
              <Ago at={run.updatedAt} />
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}
