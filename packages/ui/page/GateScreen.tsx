import { useSignal } from '@preact/signals';
import type { GateView } from '../src/views/gateView.ts';
import { Answers } from './Answers.tsx';
import { linesOf } from './artifacts.ts';
import { DiffView } from './DiffView.tsx';
import { Evidence } from './Evidence.tsx';
import { lineChanges } from './lineChanges.ts';
import { Proposal } from './Proposal.tsx';
import { Ago } from './parts.tsx';
import { gateHref, runHref } from './place.ts';
import { plain, shortHash } from './words.ts';

export function GateScreen({ view }: { readonly view: GateView }) {
  const { about, title, threadId, artifact, artifactHash, message, openedAt, code, before } = view;
  return (
    <>
      <h1>
        {about} <span class="quiet">of</span> <a href={runHref(threadId)}>{title}</a>
      </h1>
      <p class="meta quiet">
        asked <Ago at={openedAt} />, <code>{shortHash(artifactHash)}</code>
      </p>
      {view.isOpen ? null : <Moved view={view} />}
      {message !== '' && <p>{message}</p>}
      {before !== null && <Before view={view} />}
      {view.evidence !== null && <Evidence evidence={view.evidence} />}
      <Proposal artifact={artifact} />
      {code?.problem !== undefined && <p class="warning">The code cannot be shown: {code.problem}</p>}
      {code !== null && code.unshown.length > 0 && (
        <p class="warning">No line is shown of: {code.unshown.join(', ')}</p>
      )}
      {code !== null && code.diff !== '' && <DiffView diff={code.diff} />}
      {view.isOpen && <Answers view={view} />}
    </>
  );
}

/** The gate is closed, or asks about something else by now. */
function Moved({ view: { closed, next, threadId } }: { readonly view: GateView }) {
  const by = closed?.principal == null ? '' : ` by ${closed.principal}`;
  return (
    <div class="banner" role="status">
      This is not open any more: {plain(closed?.status ?? 'closed')}
      {by}. {next !== null && <a href={gateHref(threadId, next)}>Read what is asked now</a>}
    </div>
  );
}

/** What was said about the version before, and what has changed since. */
function Before({ view: { before, artifact } }: { readonly view: GateView }) {
  const isOpen = useSignal(false);
  return (
    <aside>
      <blockquote class="feedback">
        <p>{before?.feedback}</p>
        <footer class="quiet">{before?.principal} sent the version before back</footer>
      </blockquote>
      <details
        onToggle={({ currentTarget }) => {
          isOpen.value = currentTarget.open;
        }}
      >
        <summary>What has changed since</summary>
        {isOpen.value && (
          <pre class="changes">
            {lineChanges(linesOf(before?.artifact), linesOf(artifact)).map(({ kind, text }, at) => (
              <div key={at} class={kind}>
                {text}
              </div>
            ))}
          </pre>
        )}
      </details>
    </aside>
  );
}
