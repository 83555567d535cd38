import { diffArrays, diffWordsWithSpace } from 'diff';

/** A part of a text that is the same as before, new, or gone. */
export interface TextPiece {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** A paragraph, an item or another short text, compared with the earlier one. */
export interface UnitChange {
  /** In order; removed parts stand in their old place. */
  readonly pieces: readonly TextPiece[];
  /** Whole texts that stood before it and are gone. */
  readonly goneBefore: readonly string[];
}

export interface TextChanges {
  /** One for each text as it is now. */
  readonly units: readonly UnitChange[];
  /** Texts that stood after the last one and are gone. */
  readonly goneAfter: readonly string[];
}

/** Of two texts, the part that has to be the same for words to be marked; else one takes the place of the other. */
const LEAST_SAME = 1 / 3;

/** Longer texts take each other's place as a whole: characters. */
const LONGEST = 4_000;

/** Texts one after the other, as they were and as they are. Pure. */
export function textChanges(before: readonly string[], after: readonly string[]): TextChanges {
  const units: UnitChange[] = [];
  let gone: readonly string[] = [];
  const add = (pieces: readonly TextPiece[]): void => {
    units.push({ pieces, goneBefore: gone });
    gone = [];
  };
  const parts = diffArrays([...before], [...after]);
  for (const [at, { value, added, removed }] of parts.entries()) {
    if (removed) {
      gone = value;
    } else if (added) {
      const other = parts[at - 1]?.removed === true ? gone : [];
      gone = [];
      for (const [n, text] of value.entries()) add(changedPieces(other[n], text));
      gone = [...gone, ...other.slice(value.length)];
    } else {
      for (const text of value) add([{ kind: 'same', text }]);
    }
  }
  return { units, goneAfter: gone };
}

/** A text compared with the one that it replaces. */
function changedPieces(before: string | undefined, after: string): readonly TextPiece[] {
  if (before === undefined) return [{ kind: 'added', text: after }];
  const whole: readonly TextPiece[] = [
    { kind: 'removed', text: before },
    { kind: 'added', text: after },
  ];
  if (Math.max(before.length, after.length) > LONGEST) return whole;
  const pieces = diffWordsWithSpace(before, after).map(
    ({ value, added, removed }): TextPiece => ({
      kind: added ? 'added' : removed ? 'removed' : 'same',
      text: value,
    }),
  );
  const same = pieces.reduce((sum, { kind, text }) => sum + (kind === 'same' ? text.trim().length : 0), 0);
  const longest = Math.max(before.trim().length, after.trim().length);
  return same >= longest * LEAST_SAME ? pieces : whole;
}

export const isChanged = ({ pieces, goneBefore }: UnitChange): boolean =>
  goneBefore.length > 0 || pieces.some(({ kind }) => kind !== 'same');

/** Hands out the pieces of a text, as much of it as is asked for: its elements cut it elsewhere. */
export class PieceCursor {
  readonly #left: TextPiece[];

  constructor(pieces: readonly TextPiece[]) {
    this.#left = [...pieces];
  }

  /** The next characters of the current text, with the removed parts before and among them. */
  take(length: number): readonly TextPiece[] {
    const taken: TextPiece[] = [];
    let open = length;
    for (let next = this.#left[0]; next !== undefined; next = this.#left[0]) {
      if (next.kind !== 'removed' && open === 0) break;
      this.#left.shift();
      if (next.kind === 'removed') {
        taken.push(next);
        continue;
      }
      taken.push({ kind: next.kind, text: next.text.slice(0, open) });
      const rest = next.text.slice(open);
      if (rest !== '') this.#left.unshift({ kind: next.kind, text: rest });
      open -= Math.min(open, next.text.length);
    }
    return taken;
  }
}
