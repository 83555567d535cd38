import { useSignal } from '@preact/signals';
import type { PastGate, RunView } from '../src/views/runView.ts';
import { Ago, Section, Status } from './parts.tsx';
import { gateHref } from './place.ts';
import { plain, taskLabel, timeWords, usdWords } from './words.ts';

export function RunScreen({ view }: { readonly view: RunView }) {
  const { id, title, status, reason, gates, past, budget } = view;
  return (
    <>
      <h1>{title}</h1>
      <p class="meta">
        <Status value={status} /> {reason !== null && <span>{reason}</span>} <span class="quiet">{id}</span>
      </p>
      {gates.map((gate) => (
        <a key={gate.sessionId} class="banner" href={gateHref(id, gate.sessionId)}>
          {gate.about} waits for a decision
        </a>
      ))}
      <Figures view={view} />
      {budget.length > 0 && (
        <ul class="budget">
          {budget.map(({ measure, spent, limit }) => (
            <li key={measure}>
              <span>{measure}</span>
              <progress value={spent} max={limit} />
              <span class="number">
                {spent} of {limit}
              </span>
            </li>
          ))}
        </ul>
      )}
      <Tasks view={view} />
      {past.length > 0 && (
        <Section title="Decided">
          <ul class="rows">
            {past.map((gate) => (
              <PastRow key={gate.sessionId} run={id} gate={gate} />
            ))}
          </ul>
        </Section>
      )}
      <Log view={view} />
    </>
  );
}

function Figures({ view: { cost, running, driver, degraded } }: { readonly view: RunView }) {
  return (
    <dl class="figures">
      <dt>cost</dt>
      <dd>
        {usdWords(cost.costUsd)}
        {cost.unpriced > 0 && ` and ${cost.unpriced} calls without a price`}
      </dd>
      <dt>tokens</dt>
      <dd>
        {cost.tokensIn} in, {cost.tokensOut} out
      </dd>
      <dt>calls</dt>
      <dd>{cost.calls}</dd>
      <dt>now</dt>
      <dd>
        {running === null
          ? driver === null
            ? 'nobody drives it'
            : 'between two steps'
          : [running.task, running.node, running.step].filter((part) => part !== null).join(', ')}
      </dd>
      {degraded && <dd class="warning">Rows of its journal were lost.</dd>}
    </dl>
  );
}

function Tasks({ view: { tasks } }: { readonly view: RunView }) {
  if (tasks.length === 0) return null;
  return (
    <Section title="Tasks">
      <ul class="rows">
        {tasks.map(({ taskId, label, name, status, gitHash }) => (
          <li key={taskId} class="row">
            <strong class="number">{label}</strong>
            <span class="grow">{name}</span>
            {gitHash !== null && <code>{gitHash.slice(0, 8)}</code>}
            <Status value={status} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function PastRow({ run, gate }: { readonly run: string; readonly gate: PastGate }) {
  return (
    <li>
      <a class="row" href={gateHref(run, gate.sessionId)}>
        <strong>{gate.about}</strong>
        <span class="grow">
          {gate.said ?? plain(gate.status)}
          {gate.principal !== null && ` by ${gate.principal}`}
        </span>
        {gate.decidedAt !== null && (
          <span class="quiet number">
            <Ago at={gate.decidedAt} />
          </span>
        )}
      </a>
    </li>
  );
}

function Log({ view: { log, earlier } }: { readonly view: RunView }) {
  const wanted = useSignal('');
  const shown = log.filter((entry) =>
    JSON.stringify(entry).toLowerCase().includes(wanted.value.toLowerCase()),
  );
  return (
    <Section title="Log">
      <input
        type="search"
        aria-label="Filter the log"
        placeholder="filter"
        value={wanted}
        onInput={({ currentTarget }) => {
          wanted.value = currentTarget.value;
        }}
      />
      {earlier > 0 && (
        <p class="quiet">
          The newest {log.length}; {earlier} older ones are in devs log.
        </p>
      )}
      <ol class="log">
        {shown.map(({ seq, at, name, taskId, payload }) => (
          <li key={seq}>
            <time dateTime={at}>{timeWords(at)}</time>
            <span class="number">{taskId === null ? '' : taskLabel(taskId)}</span>
            <span>{plain(name)}</span>
            <span class="quiet">{payloadWords(payload)}</span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

const payloadWords = (payload: unknown): string =>
  typeof payload !== 'object' || payload === null
    ? ''
    : Object.entries(payload)
        .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(', ');
