import type { RunView } from '../../src/views/runView.ts';
import type { TimelineView } from '../../src/views/timelineView.ts';
import { runPath } from '../api.ts';
import { Problem } from '../parts.tsx';
import { useView } from '../useView.ts';
import { formatDuration } from '../words.ts';
import { LANE, type Lane, timelineLanes } from './timelineLanes.ts';

/** Task by task, what took time: work, attempts that were made again, and waiting for people. */
export function Timeline({ run }: { readonly run: RunView }) {
  const path = `${runPath(run.id)}/timeline`;
  const loaded = useView<{ readonly timeline: TimelineView | null }>(path, run).value;
  if (loaded.kind === 'loading') return null;
  if (loaded.kind === 'error') return <Problem error={loaded.error} />;
  const { timeline } = loaded.view;
  if (timeline === null) return null;
  const { lanes, cuts } = timelineLanes(timeline);
  return (
    <section class="panel timeline" aria-label="Timeline">
      <header>
        <h2>Timeline</h2>
        <span class="q3">
          {formatDuration(timeline.length)} in all{cuts.length > 0 && ', long waits are drawn short'}
        </span>
        <span class="grow" />
        <span class="legend hide-s">
          <span>
            <i class="work" /> work
          </span>
          <span>
            <i class="failed" /> failed
          </span>
          <span>
            <i class="waiting" /> people
          </span>
        </span>
      </header>
      <div class="lanes">
        {lanes.map((lane) => (
          <LaneRow key={lane.label} lane={lane} cuts={cuts} />
        ))}
      </div>
    </section>
  );
}

function LaneRow({
  lane: { label, name, bars, words },
  cuts,
}: {
  readonly lane: Lane;
  readonly cuts: readonly number[];
}) {
  return (
    <details class="lane">
      <summary>
        <span class="lane-label">
          <strong class="number">{label}</strong> <span class="q3">{name}</span>
        </span>
        <svg viewBox={`0 0 ${LANE} 18`} preserveAspectRatio="none" aria-hidden="true">
          {cuts.map((x) => (
            <line key={x} class="cut" x1={x} x2={x} y1="0" y2="18" />
          ))}
          {bars.map(({ x, width, kind, isRetry }, at) => (
            <rect
              key={at}
              class={`bar ${kind} ${isRetry ? 'retry' : ''}`}
              x={x}
              width={width}
              y={isRetry ? 2 : 4}
              height={isRetry ? 14 : 10}
            />
          ))}
        </svg>
      </summary>
      <ol>
        {words.map((each, at) => (
          <li key={at}>{each}</li>
        ))}
      </ol>
    </details>
  );
}
