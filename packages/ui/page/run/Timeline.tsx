import type { RunView } from '../../src/views/runView.ts';
import type { TimelineView } from '../../src/views/timelineView.ts';
import { runPath } from '../api.ts';
import { Problem } from '../parts.tsx';
import { useView } from '../useView.ts';
import { formatDuration } from '../words.ts';
import { LANE, type Lane, type LaneBar, timelineLanes } from './timelineLanes.ts';

/** Task by task, what took time: work, attempts that were made again, and waiting for people. */
export function Timeline({ run }: { readonly run: RunView }) {
  const path = `${runPath(run.id)}/timeline`;
  const loaded = useView<{ readonly timeline: TimelineView | null }>(path, run).value;
  if (loaded.kind === 'loading') return null;
  if (loaded.kind === 'error') return <Problem error={loaded.error} />;
  const { timeline } = loaded.view;
  if (timeline === null) return null;
  const { lanes, cuts, kinds } = timelineLanes(timeline);
  return (
    <section class="panel timeline" aria-label="Timeline">
      <header>
        <h2>Timeline</h2>
        <span class="q3">
          {formatDuration(timeline.length)} in all{cuts.length > 0 && ', long waits are drawn short'}
        </span>
        <span class="grow" />
        <span class="legend hide-s">
          {kinds.map((kind) => (
            <span key={kind}>
              <i class={kind} /> {kind === 'waiting' ? 'people' : kind}
            </span>
          ))}
        </span>
      </header>
      <div class="lanes">
        <Hatch />
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
        <svg aria-hidden="true">
          {cuts.map((x) => (
            <line key={x} class="cut" x1={percent(x)} x2={percent(x)} y1="0" y2="18" />
          ))}
          {bars.map((bar, at) => (
            <Bar key={at} bar={bar} />
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

/** The pattern of waits for people, for all lanes. A stretched lane would bend it, so lanes use percentages. */
const Hatch = () => (
  <svg class="defs" aria-hidden="true">
    <defs>
      <pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">
        <rect class="ground-hatch" width="5" height="5" />
        <rect class="line-hatch" width="5" height="1.5" />
      </pattern>
    </defs>
  </svg>
);

const percent = (x: number): string => `${(x * 100) / LANE}%`;

function Bar({ bar: { x, width, kind, stage, label, title, isRetry } }: { readonly bar: LaneBar }) {
  return (
    <g>
      <title>{title}</title>
      <rect
        class={`bar ${kind} ${stage ?? ''} ${isRetry ? 'retry' : ''}`}
        x={percent(x)}
        width={percent(width)}
        y="1"
        height="16"
        rx="3"
      />
      {label !== '' && (
        <text class={`bar-label hide-s ${kind}`} x={percent(x + width / 2)} y="13">
          {label}
        </text>
      )}
    </g>
  );
}
