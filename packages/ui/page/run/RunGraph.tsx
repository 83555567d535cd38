import { useSignal } from '@preact/signals';
import type { RunView } from '../../src/views/runView.ts';
import { runPath } from '../api.ts';
import { GraphPicture } from '../graph/GraphPicture.tsx';
import { type RecordedGraph, recordedPicture } from '../graph/pictures.ts';
import { Ago, Problem } from '../parts.tsx';
import { useView } from '../useView.ts';
import { Checkpoints } from './Checkpoints.tsx';

/** The graph of a run as its file has it. Of a run with a plan it is folded: the plan says more. */
export function RunGraph({ run }: { readonly run: RunView }) {
  const isOpen = useSignal(run.tasks.length === 0);
  return (
    <section class="panel graph-panel">
      <details
        open={isOpen.value}
        onToggle={({ currentTarget }) => {
          isOpen.value = currentTarget.open;
        }}
      >
        <summary>
          <h2>Graph and values</h2>
        </summary>
        {isOpen.value && <Recorded run={run} />}
      </details>
    </section>
  );
}

function Recorded({ run }: { readonly run: RunView }) {
  const loaded = useView<RecordedGraph>(`${runPath(run.id)}/graph`, run).value;
  return (
    <>
      {loaded.kind === 'error' && <Problem error={loaded.error} />}
      {loaded.kind === 'shown' && (
        <>
          <GraphPicture
            title="The graph and its executed paths"
            {...recordedPicture(loaded.view, run.gates.length > 0)}
          />
          <GraphList graph={loaded.view} />
        </>
      )}
      <h3>Checkpoints</h3>
      <Checkpoints run={run} />
    </>
  );
}

function GraphList({ graph: { nodes, edges, next } }: { readonly graph: RecordedGraph }) {
  return (
    <ul class="rows">
      {nodes.map(({ name, gate, visits, lastAt }) => {
        const ways = edges.filter(({ from }) => from === name).map(({ to, times }) => `${to} ×${times}`);
        return (
          <li key={name} class="row">
            <strong>{name}</strong>
            <span class="grow q3">
              {ways.length > 0 && `to ${ways.join(', ')}`}
              {gate !== null && ' has a gate'}
            </span>
            {next.includes(name) && <span class="status waiting">next</span>}
            <span class="number">{visits === 1 ? '1 execution' : `${visits} executions`}</span>
            {lastAt !== null && (
              <span class="q3 number">
                <Ago at={lastAt} />
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
