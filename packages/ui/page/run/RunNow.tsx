import type { RunView, ShownRunView } from '../../src/views/runView.ts';
import { Command, GoOn } from '../GoOn.tsx';
import { Icon, type IconName, kindIcon } from '../icons.tsx';
import { FactWords, Problem, Since } from '../parts.tsx';
import { gateHref } from '../place.ts';
import { Now } from './Now.tsx';

/** The state of the run: it waits for a person, works, or stands still, with the button that helps. */
export function RunNow({ run }: { readonly run: ShownRunView }) {
  const { gates, driver, status } = run;
  if (gates.length > 0) return <Waits run={run} />;
  if (driver !== null) return <Works run={run} />;
  if (status === 'completed' || status === 'cancelled') return null;
  return <Stands run={run} />;
}

/** A row for each open gate. */
function Waits({ run: { id, gates } }: { readonly run: RunView }) {
  return (
    <section class="panel now waits" aria-label="Waits for you">
      {gates.map(({ sessionId, kind, about, asks, facts, openedAt }) => (
        <div key={sessionId} class="now-main">
          <span class="kind">
            <Icon name={kindIcon(kind)} />
          </span>
          <div class="grow">
            <h2>
              {about} waits for you: {asks}
            </h2>
            <p class="q2">
              <FactWords facts={facts} /> Asked <Since at={openedAt} />. Nothing runs until you decide.
            </p>
          </div>
          <a class="btn primary item" href={gateHref(id, sessionId)}>
            Review
          </a>
        </div>
      ))}
    </section>
  );
}

const Works = ({ run }: { readonly run: RunView }) => (
  <section class="panel now works" aria-label="Works">
    <div class="now-main">
      <span class="kind live">
        <Icon name="play" />
      </span>
      <div class="grow">
        <h2 class="livedot">The run works</h2>
        <p class="q2">
          <Now run={run} />. Driven by {run.driver}.
        </p>
      </div>
    </div>
  </section>
);

/** Title and icon by status. */
const STANDS: Readonly<Partial<Record<RunView['status'], readonly [title: string, icon: IconName]>>> = {
  failed: ['The run stopped', 'stuck'],
  dead_letter: ['The run stopped for good', 'stuck'],
  paused: ['The run is paused', 'pause'],
};

function Stands({ run: { id, status, reason, failure } }: { readonly run: ShownRunView }) {
  const [title, icon] = STANDS[status] ?? (['Nothing drives this run', 'pause'] as const);
  const isBad = status === 'failed' || status === 'dead_letter';
  return (
    <section class={`panel now ${isBad ? 'stopped' : 'waits'}`} aria-label="Stands">
      <div class="now-main">
        <span class={`kind ${isBad ? 'bad' : ''}`}>
          <Icon name={icon} />
        </span>
        <div class="grow">
          <h2>{title}</h2>
          <p class="q2">
            {reason !== null && <span>{reason}. </span>}
            Nothing is lost: it goes on from where it was.
          </p>
        </div>
      </div>
      {failure !== null && <Problem error={failure} />}
      {status === 'dead_letter' ? (
        <Command words={`devs revive ${id}`} />
      ) : (
        <GoOn run={id} isMain label={isBad || status === 'paused' ? 'Resume' : 'Go on'} />
      )}
    </section>
  );
}
