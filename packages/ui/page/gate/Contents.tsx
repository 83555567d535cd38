import { type ContentsGroup, type ContentsItem, isInItem } from './contentsOf.ts';
import { threadAt, useGate } from './gateOnPage.ts';
import { isAnswered } from './gateWords.ts';

/** Links to each part of the artifact, with marks for comments. */
export function Contents({ groups }: { readonly groups: readonly ContentsGroup[] }) {
  return (
    <nav class="toc" aria-label="Contents">
      <ul>
        {groups.map(({ title, items }) => (
          <li key={title}>
            <span class="toc-h">{title}</span>
            <ul>
              {items.map((item) => (
                <li key={`${item.place} ${item.from}`}>
                  <button type="button" onClick={() => showPart(item)}>
                    <span class="tn">{item.words}</span>
                    <Said item={item} />
                  </button>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Said({ item }: { readonly item: ContentsItem }) {
  const gate = useGate();
  if (gate === null) return null;
  const { own, last } = threadAt(gate, item.place, (line) => isInItem(item, line));
  const areAnswered = last.every(isAnswered);
  return (
    <>
      {last.length > 0 && (
        <span
          class={`dot ${areAnswered ? 'ch' : 'an'}`}
          role="img"
          aria-label={areAnswered ? 'comments answered' : 'comments of the last round'}
        />
      )}
      {own.length > 0 && <span class="dot dr" role="img" aria-label="your draft" />}
    </>
  );
}

/** A heading, else the whole of its document or card. */
function showPart({ place, from }: ContentsItem): void {
  const whole = document.querySelector<HTMLElement>(`[data-place-of="${CSS.escape(place)}"]`);
  const blocks = [...(whole?.querySelectorAll<HTMLElement>('.block') ?? [])];
  const block = from === null ? undefined : blocks.find(({ dataset }) => Number(dataset['line']) === from);
  whole?.focus({ preventScroll: true });
  (block ?? whole)?.scrollIntoView({ block: 'start' });
}
