import { useSignal } from '@preact/signals';
import type { GateCode } from '../../src/views/gateCode.ts';
import type { GateView } from '../../src/views/gateView.ts';
import { gatePath } from '../api.ts';
import { isReview } from '../artifacts.ts';
import { DiffView } from '../DiffView.tsx';
import { Problem } from '../parts.tsx';
import { useView } from '../useView.ts';
import { shortHash } from '../words.ts';
import { Hidden } from './Hidden.tsx';

/** The code of a review: all of it, or what is new since another version; first since the one that the person has read. */
export function Code({ view }: { readonly view: GateView }) {
  const since = useSignal(view.readBefore ?? '');
  if (!isReview(view.artifact)) return null;
  return (
    <section>
      <h2>Code</h2>
      {view.versions.length > 0 && (
        <label>
          <span>show</span>
          <select
            value={since.value}
            onChange={({ currentTarget }) => {
              since.value = currentTarget.value;
            }}
          >
            <option value="">all</option>
            {view.versions.map(({ sessionId, artifactHash }) => (
              <option key={sessionId} value={sessionId}>
                since {sessionId === view.readBefore ? 'the version you read last, ' : ''}
                {shortHash(artifactHash)}
              </option>
            ))}
          </select>
        </label>
      )}
      <CodeSince key={since.value} view={view} since={since.value} />
    </section>
  );
}

function CodeSince({ view, since }: { readonly view: GateView; readonly since: string }) {
  const path = `${gatePath(view)}/code${since === '' ? '' : `/${encodeURIComponent(since)}`}`;
  const loaded = useView<{ readonly code: GateCode | null }>(path, view.artifactHash).value;
  if (loaded.kind === 'loading') return <p class="quiet">…</p>;
  if (loaded.kind === 'error') return <Problem error={loaded.error} />;
  const { code } = loaded.view;
  return (
    <>
      <Hidden view={view} count={code?.hidden?.length ?? 0} />
      <ShownCode code={code} />
    </>
  );
}

/** A diff, and what it has no line of. */
export function ShownCode({ code }: { readonly code: GateCode | null }) {
  if (code === null) return <p class="quiet">The code is in git, and the page cannot read it here.</p>;
  return (
    <>
      {code.problem !== undefined && <p class="warning">Cannot show the code: {code.problem}</p>}
      {code.unshown.length > 0 && <p class="warning">Not shown (binary): {code.unshown.join(', ')}</p>}
      {code.diff === '' ? <p class="quiet">No changes.</p> : <DiffView diff={code.diff} />}
    </>
  );
}
