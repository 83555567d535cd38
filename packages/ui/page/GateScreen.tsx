import { useMemo } from 'preact/hooks';
import type { ShownGateView } from '../src/views/gateView.ts';
import { Answers } from './Answers.tsx';
import { Evidence } from './Evidence.tsx';
import { AskBox } from './gate/AskBox.tsx';
import { Code } from './gate/Code.tsx';
import { Difference } from './gate/Difference.tsx';
import { GateContext, gateOnPage } from './gate/gateOnPage.ts';
import { Hidden } from './gate/Hidden.tsx';
import { SelectionButton } from './gate/SelectionButton.tsx';
import { LastComments } from './gate/ThreadView.tsx';
import { Proposal } from './Proposal.tsx';
import { Ago } from './parts.tsx';
import { gateHref, runHref } from './place.ts';
import { formatPlaceName, humanizeName, shortHash } from './words.ts';

export function GateScreen({ view }: { readonly view: ShownGateView }) {
  const { about, title, threadId, artifact, artifactHash, message, openedAt } = view;
  const gate = useMemo(() => gateOnPage(view), [view]);
  return (
    <GateContext.Provider value={gate}>
      <h1>
        {about} <span class="quiet">of</span> <a href={runHref(threadId)}>{title}</a>
      </h1>
      <p class="meta quiet">
        asked <Ago at={openedAt} />, <code>{shortHash(artifactHash)}</code>
      </p>
      {view.isOpen ? null : <Moved view={view} />}
      {message !== '' && <p>{message}</p>}
      <Hidden view={view} count={view.hiddenCount} />
      <Before view={view} />
      <Difference key={view.next} view={view} />
      {view.evidence === null ? (
        <Proposal artifact={artifact} />
      ) : (
        <Evidence evidence={view.evidence}>
          <Proposal artifact={artifact} />
        </Evidence>
      )}
      <Code view={view} />
      <AskBox view={view} />
      {view.isOpen ? <Answers gate={gate} /> : <Unsent gate={gate} />}
      <SelectionButton gate={gate} />
    </GateContext.Provider>
  );
}

/** The gate is closed, or asks about something else by now. */
function Moved({ view: { closed, next, threadId } }: { readonly view: ShownGateView }) {
  const by = closed?.principal == null ? '' : ` by ${closed.principal}`;
  return (
    <div class="banner" role="status">
      This gate is closed: {humanizeName(closed?.status ?? 'closed')}
      {by}. {next !== null && <a href={gateHref(threadId, next)}>Open the current gate</a>}
    </div>
  );
}

/** What was said about the version before, but for what is shown beside its lines. */
function Before({ view: { before, lastComments, places } }: { readonly view: ShownGateView }) {
  const isShown = (name: string): boolean => places.some(({ names }) => names.includes(name));
  const lost = lastComments.filter(({ in: name }) => !isShown(name));
  if (before?.feedback == null && lost.length === 0) return null;
  return (
    <aside>
      {before?.feedback != null && (
        <blockquote class="feedback">
          <p>{before.feedback}</p>
          <footer class="quiet">{before.principal} rejected the previous version</footer>
        </blockquote>
      )}
      <LastComments comments={lost} />
    </aside>
  );
}

/** Somebody was faster: what was written here is not lost, and goes nowhere by itself. */
function Unsent({ gate: { store } }: { readonly gate: ReturnType<typeof gateOnPage> }) {
  const { words, comments } = store.draft.value;
  const said = [
    words,
    ...comments.map((each) => `${formatPlaceName(each.in)}, line ${each.line}: ${each.text}`),
  ].filter((text) => text.trim() !== '');
  if (said.length === 0) return null;
  return (
    <section>
      <h2>Your unsent text</h2>
      <pre class="artifact">{said.join('\n\n')}</pre>
    </section>
  );
}
