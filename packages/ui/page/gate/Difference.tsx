import { useSignal } from '@preact/signals';
import type { GateView, Version } from '../../src/views/gateView.ts';
import { gatePath } from '../api.ts';
import { DiffFiles } from '../diff/DiffView.tsx';
import { Loading, Problem } from '../parts.tsx';
import { useView } from '../useView.ts';
import { formatTime, shortHash } from '../words.ts';
import { GateContext } from './gateOnPage.ts';
import { versionFiles } from './versionFiles.ts';

/** Changes between any other version and this one, line by line; first since the one that the person has read. */
export function Difference({ view }: { readonly view: GateView }) {
  const { versions, readBefore, before, next } = view;
  const first = next ?? readBefore ?? before?.sessionId ?? versions.at(-1)?.sessionId;
  const chosen = useSignal(first);
  const isOpen = useSignal(next !== null);
  if (versions.length === 0) return null;
  return (
    <details
      class="difference"
      open={isOpen.value}
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>Compare versions</summary>
      <label>
        <span>compared with</span>
        <select
          value={chosen.value}
          onChange={({ currentTarget }) => {
            chosen.value = currentTarget.value;
          }}
        >
          {versions.map((version) => (
            <option key={version.sessionId} value={version.sessionId}>
              {formatVersion(version, view)}
            </option>
          ))}
        </select>
      </label>
      {isOpen.value && chosen.value !== undefined && (
        <Changes key={chosen.value} view={view} other={chosen.value} />
      )}
    </details>
  );
}

function formatVersion({ sessionId, artifactHash, openedAt, isOpen }: Version, view: GateView): string {
  const notes = [
    ...(isOpen ? ['current'] : []),
    ...(sessionId === view.readBefore ? ['read by you last'] : []),
    ...(sessionId === view.before?.sessionId ? ['rejected'] : []),
  ];
  return [formatTime(openedAt), shortHash(artifactHash), ...notes].join(', ');
}

/** From the older one to the newer one. */
function Changes({ view, other }: { readonly view: GateView; readonly other: string }) {
  const loaded = useView<GateView>(gatePath({ threadId: view.threadId, sessionId: other })).value;
  if (loaded.kind === 'loading') return <Loading />;
  if (loaded.kind === 'error') return <Problem error={loaded.error} />;
  const [from, to] = [loaded.view, view].toSorted((a, b) => a.openedAt.localeCompare(b.openedAt));
  const files = versionFiles(from?.artifact, to?.artifact);
  if (files.length === 0) return <p class="q3">The two versions are identical.</p>;
  return (
    // Nothing of another version is commented on.
    <GateContext.Provider value={null}>
      <DiffFiles files={files} />
    </GateContext.Provider>
  );
}
