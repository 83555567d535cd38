import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Anchor } from './anchors.ts';
import { selectedAnchor } from './Commented.tsx';
import { beginComment, type GateOnPage } from './gateOnPage.ts';

/** There while something is selected that can be commented on. */
export function SelectionButton({ gate }: { readonly gate: GateOnPage }) {
  const anchor = useSignal<Anchor | null>(null);
  useEffect(() => {
    const look = (): void => {
      anchor.value = selectedAnchor(gate);
    };
    document.addEventListener('selectionchange', look);
    return () => document.removeEventListener('selectionchange', look);
  }, [gate]);
  if (!gate.takesComments || anchor.value === null) return null;
  const begin = (): void => {
    if (anchor.value !== null) beginComment(gate, anchor.value);
    getSelection()?.removeAllRanges();
  };
  return (
    // A press would take the selection away.
    <button
      type="button"
      id="comment"
      class="btn floating primary"
      onMouseDown={(event) => event.preventDefault()}
      onClick={begin}
    >
      Comment on line {anchor.value.line} <kbd>c</kbd>
    </button>
  );
}
