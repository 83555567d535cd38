import { useEffect, useRef } from 'preact/hooks';
import type { ShownGateView } from '../../src/views/gateView.ts';
import type { WaitingLine, WaitingView } from '../../src/views/inboxView.ts';
import type { ShownRunView } from '../../src/views/runView.ts';
import { runPath } from '../api.ts';
import { notGoneOn } from '../flow.ts';
import { Command, GoesOnByItself, GoOn } from '../GoOn.tsx';
import { Icon, kindIcon } from '../icons.tsx';
import { Ago, FactWords, Problem } from '../parts.tsx';
import { gateHref, inboxHref, runHref } from '../place.ts';
import { Now } from '../run/Now.tsx';
import { me } from '../state.ts';
import { useView } from '../useView.ts';
import { formatClock, formatNumbered, shortHash } from '../words.ts';
import { gateTitle } from './gateWords.ts';
import { nextSteps, wayBack } from './nextSteps.ts';

/** Whether the person at the page has decided a gate. */
export const isOwnDecision = ({ closed }: ShownGateView): boolean =>
  closed?.principal === `human:${me.value?.by.id}`;

/** After a decision: the record, the state of the run, and the next gates. */
export function Answered({ view, onSee }: { readonly view: ShownGateView; readonly onSee: () => void }) {
  return (
    <div class="ans">
      <Recorded view={view} onSee={onSee} />
      <Onward view={view} />
      <Queue view={view} />
    </div>
  );
}

function Recorded({ view, onSee }: { readonly view: ShownGateView; readonly onSee: () => void }) {
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => head.current?.focus(), []);
  const { closed, artifactHash } = view;
  const isBack = wordOf(view) === 'sent back';
  return (
    <section class="panel done" role="status" aria-labelledby="done-h">
      <span class={`kind ${isBack ? '' : 'ok'}`}>
        <Icon name={isBack ? 'back' : 'check'} />
      </span>
      <div class="grow">
        <h1 class="title" id="done-h" ref={head} tabIndex={-1}>
          You {wordOf(view)}: {gateTitle(view)}
        </h1>
        <p class="q2">
          Recorded {closed?.decidedAt != null && `at ${formatClock(closed.decidedAt)} `}as {me.value?.by.id},
          for exactly the version you read{' '}
          <span class="seal">
            <Icon name="lock" />
            <code>{shortHash(artifactHash)}</code>
          </span>
        </p>
      </div>
      <button type="button" class="btn quiet sm" onClick={onSee}>
        See it again
      </button>
    </section>
  );
}

/** The decision in a word. */
function wordOf({ closed }: ShownGateView): string {
  const { approved, action } = (closed?.decision ?? {}) as {
    readonly approved?: unknown;
    readonly action?: unknown;
  };
  if (action === 'edit') return 'proposed your version';
  if (typeof action === 'string') return `chose ${action.replace('-', ' ')}`;
  return approved === true ? 'approved' : approved === false ? 'sent back' : 'answered';
}

/** The run works, asks, has ended, or waits for a process. */
function Onward({ view }: { readonly view: ShownGateView }) {
  const loaded = useView<ShownRunView>(runPath(view.threadId), view).value;
  if (loaded.kind === 'loading') return null;
  if (loaded.kind === 'error') return <Problem error={loaded.error} />;
  const run = loaded.view;
  const failed = notGoneOn.value?.run === run.id ? notGoneOn.value.error : run.failure;
  return (
    <>
      <section class={`panel go ${run.driver === null ? '' : 'live'}`} aria-labelledby="go-h">
        <RunState run={run} />
        {failed !== null && run.driver === null && <Problem error={failed} />}
        <GoesOnByItself />
      </section>
      <Path view={view} run={run} />
    </>
  );
}

/** The way from the decision to the end of the run, and the way back. */
function Path({ view, run }: { readonly view: ShownGateView; readonly run: ShownRunView }) {
  const steps = nextSteps(view, run);
  const back = me.value?.isReadOnly === false ? wayBack(view, run.tasks) : null;
  if (steps.length === 0 && back === null) return null;
  return (
    <section class="panel path" aria-label="What happens next">
      {steps.length > 0 && (
        <>
          <h2>What happens next</h2>
          <ol>
            {steps.map(({ words, detail, command, state }) => (
              <li key={words} class={state.replace(' ', '-')}>
                <b>{words}</b> <span class="q3">{detail}</span>
                {command !== undefined && <Command words={command} />}
              </li>
            ))}
          </ol>
        </>
      )}
      {back !== null && (
        <p class="q2 undo">
          Changed your mind?{' '}
          <a class="link" href={runHref(run.id)}>
            Go back to {back}
          </a>{' '}
          on the page of the run. It undoes what came after, and the history is kept.
        </p>
      )}
    </section>
  );
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'cancelled', 'dead_letter']);

/** Of functions, not components: the link keeps the focus when the run comes to its next state. */
function RunState({ run }: { readonly run: ShownRunView }) {
  const [gate] = run.gates;
  if (run.driver !== null) return renderDriven(run);
  if (gate !== undefined) return renderAsking(run.id, gate);
  if (ENDED.has(run.status)) return renderEnded(run);
  return renderIdle(run.id);
}

const renderDriven = (run: ShownRunView) => (
  <div class="go-top">
    <div class="grow">
      <h2 id="go-h" class="livedot">
        The run goes on
      </h2>
      <p class="q2">
        <Now run={run} />. Driven by {run.driver}.
      </p>
    </div>
    <a class="btn" href={runHref(run.id)}>
      Watch
    </a>
  </div>
);

const renderAsking = (id: string, gate: ShownRunView['gates'][number]) => (
  <div class="go-top">
    <div class="grow">
      <h2 id="go-h">
        {gate.about} waits for you: {gate.asks}
      </h2>
      <p class="q2">
        <FactWords facts={gate.facts} />
      </p>
    </div>
    <a class="btn primary up" href={gateHref(id, gate.sessionId)}>
      Review it
    </a>
  </div>
);

const renderEnded = ({ id, status, branch, commits }: ShownRunView) => (
  <>
    <div class="go-top">
      <h2 id="go-h" class="grow">
        The run has ended: {status.replace('_', ' ')}
      </h2>
      <a class="btn" href={runHref(id)}>
        See the run
      </a>
    </div>
    {branch !== null && (
      <p class="row wrap merge">
        <span>
          {formatNumbered(commits.length, 'commit')} on <code>{branch.name}</code>. You merge:
        </span>
        <Command words={branch.merge} />
      </p>
    )}
  </>
);

const renderIdle = (id: string) => (
  <>
    <div class="go-top">
      <span class="kind">
        <Icon name="pause" />
      </span>
      <div class="grow">
        <h2 id="go-h">Nothing drives this run yet</h2>
        <p class="q2">Your decision is safe. The run continues from it whenever a process picks it up.</p>
      </div>
    </div>
    <GoOn run={id} isMain />
  </>
);

/** Gates of other runs that are shown. */
const SHOWN = 4;

function Queue({ view }: { readonly view: ShownGateView }) {
  const loaded = useView<WaitingView>('api/gates', view).value;
  if (loaded.kind !== 'shown') return <aside class="queue" aria-label="Next for you" />;
  const { gates, total } = loaded.view;
  return (
    <aside class="queue" aria-labelledby="q-h">
      <h2 class="h2" id="q-h">
        Next for you{' '}
        <span class="q3">{total === 0 ? 'nothing waits' : `${formatNumbered(total, 'decision')}`}</span>
      </h2>
      {total > 0 && (
        <ul class="panel rest">
          {gates.slice(0, SHOWN).map((gate) => (
            <QueueRow key={gate.sessionId} gate={gate} />
          ))}
        </ul>
      )}
      <a class="btn quiet" href={inboxHref}>
        <Icon name="inbox" />
        Inbox <kbd class="hide-s">g</kbd>
        <kbd class="hide-s">i</kbd>
      </a>
    </aside>
  );
}

const QueueRow = ({
  gate: { threadId, sessionId, kind, about, asks, openedAt },
}: {
  readonly gate: WaitingLine;
}) => (
  <li>
    <a class="item" href={gateHref(threadId, sessionId)}>
      <span class="kind">
        <Icon name={kindIcon(kind)} />
      </span>
      <span class="grow">
        <b>{asks}</b>
        <span class="q3">
          {about}, {threadId}
        </span>
      </span>
      <span class="q3">
        <Ago at={openedAt} />
      </span>
    </a>
  </li>
);
