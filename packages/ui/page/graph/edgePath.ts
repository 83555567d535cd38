import type { LaidOutEdge } from './layoutGraph.ts';

/** Through its points; between two alone in a bow. */
export function pathOf({ points }: Pick<LaidOutEdge, 'points'>): string {
  const [first = { x: 0, y: 0 }, ...rest] = points;
  const start = `M${round(first.x)} ${round(first.y)}`;
  const [only] = rest;
  if (only === undefined || rest.length > 1) {
    return start + rest.map(({ x, y }) => `L${round(x)} ${round(y)}`).join('');
  }
  const bow = round((first.x + only.x) / 2);
  return `${start}C${bow} ${round(first.y)} ${bow} ${round(only.y)} ${round(only.x)} ${round(only.y)}`;
}

/** A tenth of a pixel is as good as any. */
export const round = (value: number): number => Math.round(value * 10) / 10;
