const SHOWN = 10;

/** Names in a sentence, the first ten of them. */
export function joinNames(names: readonly string[]): string {
  const more = names.length - SHOWN;
  const shown = names.slice(0, SHOWN).join('; ');
  return more > 0 ? `${shown}; and ${more} more` : shown;
}
