import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PICTURES, type Pictures } from '../../bench/plot/pictures.ts';
import { barPlot, linePlot } from '../../bench/plot/plots.ts';

const AXES = { x: { says: 'drivers', kind: 'log' }, y: { says: 'ms' } } as const;
const LINE = { title: 'A "<&>" plot', ...AXES, series: [{ name: '</text>', points: [[1, 3] as const] }] };
const BARS = { title: 'Bars', says: 'ms', series: ['one'], rows: [{ name: 'a', values: [2] }] };

/** Every element is closed, in the order in which they were opened. */
function isWellFormed(svg: string): boolean {
  const open: string[] = [];
  for (const [, close, name = '', self] of svg.matchAll(/<(\/?)([a-z]+)(?:\s[^<>]*?)?(\/?)>/g)) {
    if (self === '/') continue;
    if (close === '') open.push(name);
    else if (open.pop() !== name) return false;
  }
  return open.length === 0 && !/&(?!amp;|lt;|gt;|quot;)/.test(svg);
}

describe('plots', () => {
  it('are well-formed whatever is written on them, and the same for the same figures', async () => {
    for (const svg of [
      await linePlot(LINE),
      await barPlot({ ...BARS, series: ['a & b', '<c>'], rows: [{ name: '"', values: [1, 2] }] }),
    ]) {
      expect(isWellFormed(svg)).toBe(true);
      expect(svg).toContain('prefers-color-scheme: dark');
    }
    expect(await linePlot(LINE)).toBe(await linePlot(structuredClone(LINE)));
  });

  it('show every value between the ends of its axis', async () => {
    const kinds = fc.constantFrom('linear' as const, 'log' as const);
    const figure = fc.double({ min: 1e-6, max: 1e9, noNaN: true });
    const some = fc.array(fc.tuple(figure, figure), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(kinds, kinds, some, async (x, y, points) => {
        const axes = { x: { says: 'x', kind: x }, y: { says: 'y', kind: y } };
        const svg = await linePlot({ title: 'Any', ...axes, series: [{ name: 'n', points }] });
        const [, width, height] = /class="background"[^>]*d="M0,0h([\d.]+)v([\d.]+)h/.exec(svg) ?? [];
        const [marks = ''] = svg.split('class="mark-symbol role-mark')[1]?.split('</g>') ?? [];
        const dots = [...marks.matchAll(/<path transform="translate\(([-\d.e]+),([-\d.e]+)\)"/g)];
        expect(dots).toHaveLength(points.length);
        for (const [, across, down] of dots) {
          expect(Number(across)).toBeGreaterThanOrEqual(-0.1);
          expect(Number(across)).toBeLessThanOrEqual(Number(width) + 0.1);
          expect(Number(down)).toBeGreaterThanOrEqual(-0.1);
          expect(Number(down)).toBeLessThanOrEqual(Number(height) + 0.1);
        }
      }),
      { numRuns: 25 },
    );
  });

  it('of the documentation are those of the figures beside them', async () => {
    const folder = new URL('../../../../docs/plots/', import.meta.url);
    const names = readdirSync(folder);
    const text = (name: string): string => readFileSync(new URL(name, folder), 'utf8');
    const drawn = names
      .filter((name) => name.endsWith('.json'))
      .map((name): Promise<Pictures> => {
        const draw: (figures: never) => Promise<Pictures> =
          PICTURES[name.slice(0, -5) as keyof typeof PICTURES];
        return draw(JSON.parse(text(name)) as never);
      });
    const expected = Object.assign({}, ...(await Promise.all(drawn))) as Pictures;
    const there = names
      .filter((name) => name.endsWith('.svg'))
      .map((name) => [name.slice(0, -4), text(name)]);
    expect(Object.fromEntries(there)).toEqual(expected);
    for (const svg of Object.values(expected)) expect(isWellFormed(svg)).toBe(true);
  });

  it('of starts, wakes and overhead show every figure', async () => {
    const { cli } = await PICTURES.cli({ rows: [{ process: 'devs status', cpuRatio: 3.1, wallRatio: 2.8 }] });
    const { wakes } = await PICTURES.wakes({
      figures: [{ name: 'woken', ownMs: { median: 8.5, p95: 11.6 } }],
    });
    const results = [{ subject: 'pipeline', ratios: [{ pair: 'devs / official', median: 2.2 }] }];
    const { overhead } = await PICTURES.overhead({ results });
    for (const value of ['3.1', '2.8', '8.5', '11.6', '2.2'])
      expect(`${cli}${wakes}${overhead}`).toContain(`>${value}</text>`);
  });

  it('of a server have a line of both for each figure', async () => {
    const many = { runsPerSecond: 90, cpuMs: 8, turnP50Ms: 0.4, turnP99Ms: 21 };
    const decided = { p50Ms: 5, p99Ms: 9, cpuMs: 6 };
    const driven = { runsPerSecond: 70, cpuMs: 9, errors: [] };
    const pictures = await PICTURES.server({
      once: [1, 100].map((atOnce) => ({
        ...{ atOnce, cpuRatio: 2, speedRatio: 0.5 },
        stands: { devs: many, official: many },
      })),
      decisions: [1, 100].map((atOnce) => ({
        ...{ atOnce, cpuRatio: 2 },
        stands: { devs: decided, official: decided },
      })),
      processes: [1, 16].map((count) => ({
        ...{ processes: count, cpuRatio: 2, speedRatio: 0.5 },
        stands: { devs: driven, official: driven },
      })),
    });
    const dots = (name: string): number => pictures[name]?.match(/<path transform="translate/g)?.length ?? 0;
    // Two sizes of both, twice where a median and a p99 are shown; and a sign in the legend for each line.
    expect(dots('server-throughput')).toBe(6);
    expect(dots('server-processes')).toBe(6);
    expect(dots('server-loop')).toBe(12);
    expect(dots('server-decisions')).toBe(12);
    for (const name of ['devs, p99', 'official, median'])
      expect(pictures['server-loop']).toContain(`>${name}<`);
  });

  it('show the aim', async () => {
    const svg = await barPlot({ ...BARS, aim: 9 });
    expect(svg).toContain('stroke-dasharray="2,3"');
    expect(svg).toContain('>10</text>');
    expect(await barPlot(BARS)).not.toContain('stroke-dasharray');
  });

  it('refuse figures that an axis cannot have', () => {
    expect(() => linePlot({ ...LINE, series: [] })).toThrow(RangeError);
    expect(() => linePlot({ ...LINE, series: [{ name: 'n', points: [[0, 1]] }] })).toThrow(/log axis, got 0/);
    expect(() =>
      linePlot({ ...LINE, series: Array.from({ length: 9 }, () => LINE.series[0] ?? fail()) }),
    ).toThrow(RangeError);
    expect(() => barPlot({ ...BARS, rows: [{ name: 'a', values: [] }] })).toThrow(/in a\./);
    expect(() => barPlot({ ...BARS, rows: [{ name: 'a', values: [Number.NaN] }] })).toThrow(/got NaN/);
  });
});

const fail = (): never => {
  throw new Error('no series');
};
