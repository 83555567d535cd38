/** Spaces, controls, and characters that no font draws: marks of direction, joiners, fillers, tags, halves of a pair. */
const UNSEEN = /[\s\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/u;
const ONLY_UNSEEN = new RegExp(`^${UNSEEN.source}*$`, 'u');

/** Whether a text shows nothing to whoever reads it: it says no more than an empty one. */
export function isBlank(text: string): boolean {
  return ONLY_UNSEEN.test(text);
}
