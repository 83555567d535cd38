import type { PastGateLine, RunView, ShownRunView } from '../src/views/runView.ts';
import { Icon } from './icons.tsx';
import { Ago, Status } from './parts.tsx';
import { gateHref } from './place.ts';
import { Commits } from './run/Commits.tsx';
import { GoBack } from './run/GoBack.tsx';
import { Now } from './run/Now.tsx';
import { PlanSection } from './run/PlanSection.tsx';
import { RunGraph } from './run/RunGraph.tsx';
import { RunLog } from './run/RunLog.tsx';
import { RunNow } from './run/RunNow.tsx';
import { Spending } from './run/Spending.tsx';
import { StopRun } from './run/StopRun.tsx';
import { Timeline } from './run/Timeline.tsx';
import { useRewinding } from './run/useRewinding.ts';
import { formatCost, formatCount, formatMeasure, formatNumbered, humanizeName } from './words.ts';

export function RunScreen({ view }: { readonly view: ShownRunView }) {
  const { id, title, status } = view;
  const rewinding = useRewinding(view);
  return (
    <div class="run">
      <header class="head">
        <p class="eyebrow">
          <Status value={status} />
          <span>{id}</span>
          {view.workspace !== null && (
            <>
              <span class="hide-s" aria-hidden="true">
                ·
              </span>
              <code class="hide-s" title={view.workspace}>
                {view.workspace.split('/').slice(-2).join('/')}
              </code>
            </>
          )}
        </p>
        <h1 class="title">{title}</h1>
      </header>
      <RunNow run={view} />
      <Figures view={view} />
      <div class="mainc">
        <PlanSection run={view} rewinding={rewinding} />
        <Timeline run={view} />
        <Spending run={view} />
        <RunGraph run={view} />
        <RunLog run={view} />
      </div>
      <div class="sidec">
        <StopRun run={view} />
        <GoBack run={view} rewinding={rewinding} />
        <Commits run={view} />
        <Decided run={id} past={view.past} />
      </div>
    </div>
  );
}

/** Four figures: tasks, cost, calls of models, current work. */
function Figures({ view }: { readonly view: RunView }) {
  const { cost, budget, tasks, degraded } = view;
  const usd = budget.find(({ measure }) => measure === 'usd');
  const done = tasks.filter(({ status }) => status === 'completed').length;
  return (
    <dl class="panel figs figures">
      <div>
        <dt>Tasks</dt>
        <dd>{tasks.length === 0 ? 'no plan yet' : `${done} of ${tasks.length}`}</dd>
        {degraded && <dd class="wait">The journal is incomplete.</dd>}
      </div>
      <div>
        <dt>Cost</dt>
        <dd>
          {formatCost(cost) || 'no call recorded'}{' '}
          {usd !== undefined && <span class="q3">of {formatMeasure('usd', usd.limit)}</span>}
        </dd>
        {cost.unpriced > 0 && <dd class="wait">{formatNumbered(cost.unpriced, 'call')} without a price</dd>}
        {usd !== undefined && (
          <dd>
            <progress
              class={`meter ${usd.spent + usd.reserved > usd.limit * 0.9 ? 'warn' : ''}`}
              value={usd.spent + usd.reserved}
              max={usd.limit}
              aria-label="cost of the limit"
            />
          </dd>
        )}
      </div>
      <div>
        <dt>Model</dt>
        <dd>
          {formatCount(cost.calls)} <span class="q3">{cost.calls === 1 ? 'call' : 'calls'}</span>
        </dd>
        <dd class="q2">
          {formatCount(cost.tokensIn)} in, {formatCount(cost.tokensOut)} out
        </dd>
      </div>
      <div>
        <dt>Now</dt>
        <dd class="q2 now-words">{view.driver === null ? 'not running' : <Now run={view} />}</dd>
      </div>
    </dl>
  );
}

function Decided({ run, past }: { readonly run: string; readonly past: readonly PastGateLine[] }) {
  if (past.length === 0) return null;
  return (
    <section class="panel decided">
      <header>
        <h2>Decided</h2>
      </header>
      <ul class="decs">
        {past.toReversed().map((gate) => (
          <PastRow key={gate.sessionId} run={run} gate={gate} />
        ))}
      </ul>
    </section>
  );
}

function PastRow({ run, gate }: { readonly run: string; readonly gate: PastGateLine }) {
  const { about, said, status, principal, decidedAt } = gate;
  return (
    <li>
      <a class="item" href={gateHref(run, gate.sessionId)}>
        <Icon
          name={said === 'sent back' ? 'back' : said === null ? 'cross' : 'check'}
          tone={said === 'sent back' ? 'wait' : said === null ? 'q3' : 'ok'}
        />
        <span class="grow">
          {about} <span class="q3">{said ?? humanizeName(status)}</span>
        </span>
        <span class="q3 nw">
          {principal !== null && `${principal.replace('human:', '')}, `}
          {decidedAt !== null && <Ago at={decidedAt} />}
        </span>
      </a>
    </li>
  );
}
