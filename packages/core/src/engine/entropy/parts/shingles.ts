/** Words in a row that count as one. */
const WIDTH = 3;

/** The runs of three words in a text. Source: Broder, "On the resemblance and containment of documents", 1997. */
export function shinglesOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const shingles = new Set<string>();
  for (let start = 0; start + WIDTH <= words.length; start += 1) {
    shingles.add(words.slice(start, start + WIDTH).join(' '));
  }
  return shingles;
}

/** Jaccard's index: shared shingles over all shingles, in [0, 1]. */
export function resemblance(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  if (large.size === 0) return 0;
  let shared = 0;
  for (const shingle of small) if (large.has(shingle)) shared += 1;
  return shared / (a.size + b.size - shared);
}
