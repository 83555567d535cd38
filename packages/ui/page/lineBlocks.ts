const BLOCKS = 5;

/** How many of five blocks are added lines, and how many removed ones; lines of a kind have at least one. Pure. */
export function lineBlocks(added: number, removed: number): readonly ('a' | 'd')[] {
  if (added + removed === 0) return [];
  const share = Math.round((BLOCKS * added) / (added + removed));
  const green = Math.min(BLOCKS - (removed > 0 ? 1 : 0), Math.max(added > 0 ? 1 : 0, share));
  return Array.from({ length: BLOCKS }, (_, at) => (at < green ? 'a' : 'd'));
}
