import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { ShownGateView } from '../src/views/gateView.ts';
import { isReview } from './artifacts.ts';
import { DecisionBar } from './DecisionBar.tsx';
import { Evidence } from './Evidence.tsx';
import { Answered, isOwnDecision } from './gate/Answered.tsx';
import { AskBox } from './gate/AskBox.tsx';
import { ChangesContext } from './gate/Changes.tsx';
import { isInPlace } from './gate/ChoiceSheet.tsx';
import { Contents } from './gate/Contents.tsx';
import { contentsOf } from './gate/contentsOf.ts';
import { Difference } from './gate/Difference.tsx';
import { EditFields } from './gate/EditFields.tsx';
import { GateHead } from './gate/GateHead.tsx';
import { GateContext, type GateOnPage, gateOnPage } from './gate/gateOnPage.ts';
import { Hidden } from './gate/Hidden.tsx';
import { useMarginNotes } from './gate/marginNotes.ts';
import { SelectionButton } from './gate/SelectionButton.tsx';
import { SinceRead, useSince } from './gate/SinceRead.tsx';
import { LastComments } from './gate/ThreadView.tsx';
import { Proposal } from './Proposal.tsx';
import { ReviewScreen, viewedField } from './review/ReviewScreen.tsx';
import { formatNumbered, formatPlaceName } from './words.ts';

export function GateScreen({ view }: { readonly view: ShownGateView }) {
  const gate = useMemo(() => gateOnPage(view), [view]);
  const { artifact } = view;
  const isReading = useSignal(false);
  const see = (): void => {
    isReading.value = true;
  };
  if (!view.isOpen && isOwnDecision(view) && !isReading.value) return <Answered view={view} onSee={see} />;
  return (
    <GateContext.Provider value={gate}>
      {isReview(artifact) ? (
        <ReviewScreen view={view} review={artifact} />
      ) : (
        <PaperScreen gate={gate} view={view} />
      )}
      {!view.isOpen && <Unsent gate={gate} />}
      <DecisionBar gate={gate} note={notViewed(gate)} />
      <SelectionButton gate={gate} />
    </GateContext.Provider>
  );
}

/** Everything but code: read from its head to its end. */
function PaperScreen({ gate, view }: { readonly gate: GateOnPage; readonly view: ShownGateView }) {
  const { artifact, evidence } = view;
  const contents = useMemo(() => contentsOf(artifact), [artifact]);
  const open = view.choices.find(({ name }) => name === gate.store.open.value);
  const since = useSince(view);
  const paper = useMarginNotes();
  return (
    <div class={`gate ${contents.length === 0 ? 'bare' : ''}`}>
      {contents.length > 0 && <Contents groups={contents} />}
      <div class="paper" ref={paper}>
        <GateHead view={view}>
          <SinceRead view={view} since={since} />
          <Hidden view={view} count={view.hiddenCount} />
          <Before view={view} />
          <Difference key={view.next} view={view} />
        </GateHead>
        <ChangesContext.Provider value={since.isMarked.value ? since.earlier : null}>
          {open !== undefined && isInPlace(open) ? (
            <EditFields gate={gate} />
          ) : evidence === null ? (
            <Proposal artifact={artifact} />
          ) : (
            <Evidence evidence={evidence}>
              <Proposal artifact={artifact} />
            </Evidence>
          )}
        </ChangesContext.Provider>
      </div>
      <aside class="beside" aria-label="Questions">
        <AskBox view={view} />
      </aside>
    </div>
  );
}

/** The number of files that were not viewed; empty once all were, and on a page that only reads. */
function notViewed({ view, store, takesComments }: GateOnPage): string {
  if (!isReview(view.artifact) || !takesComments) return '';
  const { files, total } = view.artifact.range;
  const viewed = files.filter(({ path }) => store.draft.value.fields[viewedField(path)] === 'on').length;
  const left = total.files - viewed;
  return left > 0 ? `${left} of ${formatNumbered(total.files, 'file')} not viewed` : '';
}

/** What was said about the version before, but for what is shown beside its lines. */
function Before({ view: { before, lastComments, places } }: { readonly view: ShownGateView }) {
  const isShown = (name: string): boolean => places.some(({ names }) => names.includes(name));
  const lost = lastComments.filter(({ in: name }) => !isShown(name));
  if (before?.feedback == null && lost.length === 0) return null;
  return (
    <aside aria-label="Said of the version before">
      {before?.feedback != null && (
        <blockquote class="feedback">
          <p>{before.feedback}</p>
          <footer class="q3">{before.principal} sent the version before back</footer>
        </blockquote>
      )}
      <LastComments comments={lost} />
    </aside>
  );
}

/** Somebody was faster: what was written here is not lost, and goes nowhere by itself. */
function Unsent({ gate: { store } }: { readonly gate: GateOnPage }) {
  const { words, comments } = store.draft.value;
  const said = [
    words,
    ...comments.map((each) => `${formatPlaceName(each.in)}, line ${each.line}: ${each.text}`),
  ].filter((text) => text.trim() !== '');
  if (said.length === 0) return null;
  return (
    <section class="unsent">
      <h2>Your unsent text</h2>
      <pre class="artifact">{said.join('\n\n')}</pre>
    </section>
  );
}
