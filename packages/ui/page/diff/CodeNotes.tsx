import type { GateCode } from '../../src/views/gateCode.ts';
import { DiffView } from './DiffView.tsx';

/** Files without a line in a diff, and problems of reading it. */
export function CodeNotes({ code }: { readonly code: GateCode | null }) {
  if (code === null) return <p class="q3">The code is in git, and the page cannot read it here.</p>;
  return (
    <>
      {code.problem !== undefined && <p class="wait">Cannot show the code: {code.problem}</p>}
      {code.unshown.length > 0 && <p class="wait">Not shown (binary): {code.unshown.join(', ')}</p>}
      {code.diff === '' && code.problem === undefined && <p class="q3">No changes.</p>}
    </>
  );
}

/** A diff with its notes. */
export const ShownCode = ({ code }: { readonly code: GateCode | null }) => (
  <>
    <CodeNotes code={code} />
    {code !== null && code.diff !== '' && <DiffView diff={code.diff} />}
  </>
);
