import { CLEAN_TEXTS } from './cleanTexts.ts';
import { expandClean, type Family, type FamilyKind, type Sample } from './Family.ts';

/** A masker under test. */
export type Mask = (text: string) => string;

export interface Recall {
  /** Families of which every sample was masked. */
  readonly families: number;
  readonly of: number;
  readonly samples: number;
  readonly ofSamples: number;
  /** Families with a leak, each with its first leaking text. */
  readonly misses: readonly { readonly family: string; readonly text: string }[];
}

/** Characters of a secret in a row from which it counts as leaked. */
const LEAK = 8;

/** True if a part of the secret can still be read. */
export function leaks(masked: string, { secret }: Pick<Sample, 'secret'>): boolean {
  return secret.some((madeUp) => {
    for (let from = 0; from + LEAK <= madeUp.length; from += 1) {
      if (masked.includes(madeUp.slice(from, from + LEAK))) return true;
    }
    return false;
  });
}

export function recallOf(mask: Mask, families: readonly Family[], kinds?: readonly FamilyKind[]): Recall {
  const counted = families.filter(({ kind }) => kinds?.includes(kind) ?? true);
  const leaking = counted.map(({ samples }) => samples.filter((one) => leaks(mask(one.text), one)));
  const misses = counted.flatMap(({ name }, index) => {
    const [first] = leaking[index] ?? [];
    return first === undefined ? [] : [{ family: name, text: first.text }];
  });
  const ofSamples = counted.reduce((sum, { samples }) => sum + samples.length, 0);
  const leaked = leaking.reduce((sum, samples) => sum + samples.length, 0);
  return {
    families: counted.length - misses.length,
    of: counted.length,
    samples: ofSamples - leaked,
    ofSamples,
    misses,
  };
}

/** The clean texts a masker changes; each has a new value for its hashes and ids. */
export function falseAlarmsOf(mask: Mask): readonly { readonly text: string; readonly masked: string }[] {
  return CLEAN_TEXTS.flatMap((template, index) => {
    const text = expandClean(template, `clean/${index}`);
    const masked = mask(text);
    return masked === text ? [] : [{ text, masked }];
  });
}
