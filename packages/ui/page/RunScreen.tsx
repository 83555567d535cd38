import type { PastGateLine, RunView } from '../src/views/runView.ts';
import { Ago, Section, Status } from './parts.tsx';
import { gateHref } from './place.ts';
import { Now } from './run/Now.tsx';
import { PlanSection } from './run/PlanSection.tsx';
import { RunGraph } from './run/RunGraph.tsx';
import { RunLog } from './run/RunLog.tsx';
import { Spending } from './run/Spending.tsx';
import { StopRun } from './run/StopRun.tsx';
import { Timeline } from './run/Timeline.tsx';
import { formatCount, formatDollars, humanizeName } from './words.ts';

export function RunScreen({ view }: { readonly view: RunView }) {
  const { id, title, status, reason, gates, past } = view;
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
      <StopRun run={view} />
      <PlanSection run={view} />
      <Timeline run={view} />
      <Spending run={view} />
      <RunGraph run={view} />
      {past.length > 0 && (
        <Section title="Decided">
          <ul class="rows">
            {past.map((gate) => (
              <PastRow key={gate.sessionId} run={id} gate={gate} />
            ))}
          </ul>
        </Section>
      )}
      <RunLog run={view} />
    </>
  );
}

function Figures({ view }: { readonly view: RunView }) {
  const { cost, degraded } = view;
  return (
    <dl class="figures">
      <dt>cost</dt>
      <dd>
        {formatDollars(cost.costUsd)}
        {cost.unpriced > 0 && ` and ${cost.unpriced} calls without a price`}
      </dd>
      <dt>tokens</dt>
      <dd>
        {formatCount(cost.tokensIn)} in, {formatCount(cost.tokensOut)} out
      </dd>
      <dt>calls</dt>
      <dd>{cost.calls}</dd>
      <dt>now</dt>
      <dd>
        <Now run={view} />
      </dd>
      {degraded && <dd class="warning">The journal is incomplete.</dd>}
    </dl>
  );
}

function PastRow({ run, gate }: { readonly run: string; readonly gate: PastGateLine }) {
  return (
    <li>
      <a class="row" href={gateHref(run, gate.sessionId)}>
        <strong>{gate.about}</strong>
        <span class="grow">
          {gate.said ?? humanizeName(gate.status)}
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
