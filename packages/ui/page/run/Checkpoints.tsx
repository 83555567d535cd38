import type { Run } from '@devs/core';
import { useSignal } from '@preact/signals';
import type { RunView } from '../../src/views/runView.ts';
import type { ShownValue, ValuesView } from '../../src/views/valuesView.ts';
import { runPath } from '../api.ts';
import { changedLines } from '../diff/diffLines.ts';
import { Loading, Problem } from '../parts.tsx';
import { useView } from '../useView.ts';
import { formatTime } from '../words.ts';

interface Page {
  readonly checkpoints: Awaited<ReturnType<Run['checkpoints']>>;
  readonly earlier: string | null;
}

/** The values of a run, checkpoint by checkpoint, each read when it is opened. */
export function Checkpoints({ run, before = '' }: { readonly run: RunView; readonly before?: string }) {
  const isWanted = useSignal(false);
  const at = `${runPath(run.id)}/checkpoints`;
  const loaded = useView<Page>(
    before === '' ? at : `${at}?before=${before}`,
    before === '' ? run : null,
  ).value;
  if (loaded.kind === 'loading') return null;
  if (loaded.kind === 'error') return <Problem error={loaded.error} />;
  const { checkpoints, earlier } = loaded.view;
  return (
    <>
      <ol class="checkpoints" reversed>
        {checkpoints.map((checkpoint) => (
          <Checkpoint key={checkpoint.checkpointId} at={at} checkpoint={checkpoint} />
        ))}
      </ol>
      {earlier !== null && !isWanted.value && (
        <button
          type="button"
          class="btn quiet sm"
          onClick={() => {
            isWanted.value = true;
          }}
        >
          Earlier checkpoints
        </button>
      )}
      {earlier !== null && isWanted.value && <Checkpoints run={run} before={earlier} />}
    </>
  );
}

function Checkpoint({
  at,
  checkpoint: { checkpointId, step, source, changed, at: written },
}: {
  readonly at: string;
  readonly checkpoint: Awaited<ReturnType<Run['checkpoints']>>[number];
}) {
  const isOpen = useSignal(false);
  return (
    <li>
      <details
        onToggle={({ currentTarget }) => {
          isOpen.value = currentTarget.open;
        }}
      >
        <summary>
          <span class="number">step {step}</span> <span class="q3">{source === 'loop' ? '' : source}</span>{' '}
          {changed.length === 0 ? <span class="q3">nothing changed</span> : changed.join(', ')}{' '}
          <time class="q3 number" dateTime={written}>
            {formatTime(written)}
          </time>
        </summary>
        {isOpen.value && <Values path={`${at}/${encodeURIComponent(checkpointId)}`} />}
      </details>
    </li>
  );
}

function Values({ path }: { readonly path: string }) {
  const loaded = useView<ValuesView>(path).value;
  if (loaded.kind === 'loading') return <Loading />;
  if (loaded.kind === 'error') return <Problem error={loaded.error} />;
  const { values } = loaded.view;
  if (values.length === 0) return <p class="q3 none">No values.</p>;
  return (
    <dl class="values">
      {values.map((value) => (
        <div key={value.name}>
          <dt>
            {value.name} {value.isChanged && <span class="q3">changed</span>}
          </dt>
          <dd>
            <Value value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ value: { text, before } }: { readonly value: ShownValue }) {
  if (before === null) return <pre class="artifact">{text}</pre>;
  return (
    <pre class="changes">
      {changedLines(before, text).map(({ kind, text: line }, at) => (
        <div key={at} class={kind}>
          {line}
        </div>
      ))}
    </pre>
  );
}
