import type { LogEntry } from '@devs/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { edgePath, layoutGraph, NODE } from '../page/graph/layoutGraph.ts';
import { planPicture, recordedPicture } from '../page/graph/pictures.ts';
import { meterShapes } from '../page/meterShapes.ts';
import { mergedLog } from '../page/run/mergedLog.ts';
import { formatRewindResult, lastRewind } from '../page/run/rewindWords.ts';
import { LANE, timelineAxis, timelineLanes } from '../page/run/timelineLanes.ts';
import { formatCost, formatDollars, formatDuration, formatMeasure, taskTag } from '../page/words.ts';

/** Any graph: circles, loops, and edges that lead nowhere. */
const graphs = (most: number) =>
  fc.integer({ min: 1, max: most }).chain((count) => {
    const id = fc.nat(count).map((at) => `n${at}`); // one more than there are
    const edges = fc.array(fc.record({ from: id, to: id }), { maxLength: count * 2 });
    return edges.map((all) => ({ nodes: Array.from({ length: count }, (_, at) => `n${at}`), edges: all }));
  });

/** So that no crossing is weighed. */
const MORE = Array.from({ length: 60 }, (_, at) => `m${at}`);

describe('the layout of a graph', () => {
  test.for([
    ['small', graphs(9), 60],
    ['large', graphs(9).map((graph) => ({ ...graph, nodes: [...graph.nodes, ...MORE] })), 20],
  ] as const)('a %s one: every node has a place of its own, every edge is there', ([, graph, numRuns]) => {
    fc.assert(
      fc.property(graph, (shape) => {
        const { nodes, edges, width, height } = layoutGraph(shape);
        expect(nodes.map(({ id }) => id)).toEqual(shape.nodes);
        const known = new Set(shape.nodes);
        const wanted = shape.edges.filter(({ from, to }) => known.has(from) && known.has(to));
        expect(edges.map(({ from, to }) => ({ from, to }))).toEqual(wanted);
        expect(edges.every(({ points }) => points.length >= 2)).toBe(true);
        for (const [at, a] of nodes.entries()) {
          expect(a.x >= 0 && a.y >= 0 && a.x + NODE.width <= width && a.y + NODE.height <= height).toBe(true);
          for (const b of nodes.slice(at + 1)) {
            const isApart = Math.abs(a.x - b.x) >= NODE.width || Math.abs(a.y - b.y) >= NODE.height;
            expect(isApart, `${a.id} ${b.id}`).toBe(true);
          }
        }
      }),
      { numRuns },
    );
  });

  test('of a large plan, whatever stands on a task is to its right', () => {
    const nodes = Array.from({ length: 300 }, (_, at) => `n${at}`);
    const edges = nodes.slice(1).map((to, at) => ({ from: nodes[Math.floor(at / 2)] ?? '', to }));
    const { nodes: placed } = layoutGraph({ nodes, edges });
    const x = new Map(placed.map((node) => [node.id, node.x]));
    for (const { from, to } of edges) expect(x.get(to)).toBeGreaterThan(x.get(from) ?? 0);
  });

  test('an edge is drawn through its points, between two in a bow', () => {
    expect(edgePath({ points: [{ x: 0, y: 0 }, { x: 10, y: 5.55 }] })).toBe('M0 0C5 0 5 5.6 10 5.6'); // biome-ignore format: one line
    expect(edgePath({ points: [{ x: 0, y: 0 }, { x: 1, y: 1 }, { x: 2, y: 0 }] })).toBe('M0 0L1 1L2 0'); // biome-ignore format: one line
  });
});

describe('pictures', () => {
  test('of a plan: what goes, what stays, and where the run goes on', () => {
    const task = (number: number, dependsOn: readonly string[] = []) => ({
      ...{ taskId: `r:${number}`, name: `Task ${number}`, dependsOn, status: 'completed' },
    });
    const tasks = [task(1), task(2, ['r:1']), task(3)];
    const plain = planPicture(tasks, taskTag);
    expect(plain.nodes.map(({ label, state, fate }) => [label, state, fate])).toEqual([
      ['T1', 'completed', undefined],
      ['T2', 'completed', undefined],
      ['T3', 'completed', undefined],
    ]);
    expect(plain.edges).toEqual([{ from: 'r:1', to: 'r:2' }]);
    const asked = planPicture([{ ...task(1), waits: true }, task(2)], taskTag);
    expect(asked.nodes.map(({ waits }) => waits)).toEqual([true, undefined]);
    const fates = { target: 'r:1', undone: new Set(['r:2']) };
    expect(planPicture(tasks, taskTag, fates).nodes.map(({ fate }) => fate)).toEqual([
      'target',
      'goes',
      'stays',
    ]);
    expect(planPicture([{ taskId: 'r:1', name: '', dependsOn: [] }], taskTag).nodes[0]?.state).toBe(
      'pending',
    );
  });

  test('of a recorded graph: what works, what is next, what was visited, where a person is asked', () => {
    const node = (name: string, visits: number) => ({ name, visits, gate: null, lastAt: null });
    const nodes = [node('a', 2), node('b', 1), node('c', 0), { ...node('d', 0), gate: 'node_gate' as const }];
    const edges = [{ from: null, to: 'a', times: 1 }];
    const picture = recordedPicture({ nodes, edges, next: ['c'], running: 'b' });
    expect(picture.nodes.map(({ label, name, state }) => [label, name, state])).toEqual([
      ['start', '', 'visited'],
      ['a', '2 executions', 'visited'],
      ['b', '1 execution', 'running'],
      ['c', '0 executions', 'next'],
      ['d', '0 executions, has a gate', 'unvisited'],
    ]);
    expect(picture.edges).toEqual([{ from: '__start__', to: 'a', times: 1 }]);
    expect(recordedPicture({ nodes, edges: [], next: [], running: null }).nodes).toHaveLength(4);
    const waiting = (isAsking: boolean) =>
      recordedPicture({ nodes, edges: [], next: ['c', 'd'], running: null }, isAsking).nodes.flatMap(
        ({ id, waits }) => (waits === true ? [id] : []),
      );
    expect([waiting(true), waiting(false)]).toEqual([['d'], []]);
  });
});

describe('the axis of a timeline', () => {
  const work = fc.array(
    fc.tuple(fc.nat(100_000), fc.nat(1_000)).map(([start, span]) => ({ start, end: start + span })),
    { maxLength: 20 },
  );

  test('goes from 0 to 1 and never backwards, and keeps the proportions of work', () => {
    fc.assert(
      fc.property(work, fc.nat(50_000), (intervals, after) => {
        const length = Math.max(0, ...intervals.map(({ end }) => end)) + after;
        const { at, cuts } = timelineAxis(intervals, length);
        const times = Array.from({ length: 40 }, (_, step) => (length * step) / 39);
        const places = times.map(at);
        expect(places).toEqual(places.toSorted((a, b) => a - b));
        expect([at(0), length === 0 ? 1 : at(length)]).toEqual([0, 1].map((end) => expect.closeTo(end)));
        expect(cuts.every((cut) => cut >= 0 && cut <= 1)).toBe(true);
        const scales = intervals.flatMap(({ start, end }) =>
          end > start ? [(at(end) - at(start)) / (end - start)] : [],
        );
        for (const scale of scales) expect(scale).toBeGreaterThanOrEqual(0.999 * Math.min(...scales));
      }),
    );
  });

  test('a night without work is cut short, and work beside it keeps its room', () => {
    const { at, cuts } = timelineAxis([{ start: 0, end: 1_000 }, { start: 50_000, end: 51_000 }], 51_000); // biome-ignore format: one line
    expect(cuts).toHaveLength(1);
    expect(at(1_000)).toBeGreaterThan(0.45);
    expect(at(51_000) - at(50_000)).toBeCloseTo(at(1_000));
  });

  test('waiting alone is not cut', () => {
    expect(timelineAxis([], 1_000).at(500)).toBe(0.5);
    expect(timelineAxis([], 0).at(0)).toBe(0);
  });
});

describe('shapes', () => {
  test('of a timeline: bars that can be seen, retries, and the same in words', () => {
    const bar = (start: number, end: number, attempt = 1, kind = 'done' as const) => ({
      ...{ name: 'implement', kind, start, end, attempt },
    });
    const { lanes, kinds } = timelineLanes({
      from: '',
      length: 10_000,
      rows: [
        { label: 'T1', name: 'One', bars: [bar(0, 10_000), bar(10_000, 10_000, 2)] },
        {
          label: 'run',
          name: '',
          bars: [
            { ...bar(5_000, 6_000), kind: 'waiting', name: 'Code' },
            { ...bar(6_000, 6_500), name: 'red 2' },
            { ...bar(8_000, 10_000), name: 'llm' },
          ],
        },
      ],
    });
    expect(lanes).toEqual([
      {
        label: 'T1',
        name: 'One',
        bars: [
          {
            ...{ x: 0, width: LANE, kind: 'done', stage: 'code', label: 'code', isRetry: false },
            title: 'implement: 10 s, from 0 ms',
          },
          {
            ...{ x: LANE - 2, width: 2, kind: 'done', stage: 'code', label: '', isRetry: true },
            title: 'implement, attempt 2: 0 ms, from 10 s',
          },
        ],
        words: ['implement: 10 s, from 0 ms', 'implement, attempt 2: 0 ms, from 10 s'],
      },
      {
        label: 'run',
        name: '',
        bars: [
          {
            ...{ x: 500, width: 100, kind: 'waiting', stage: null, label: '1 s', isRetry: false },
            title: 'Code, waiting: 1 s, from 5 s',
          },
          {
            ...{ x: 600, width: 50, kind: 'done', stage: 'check', label: '', isRetry: false },
            title: 'red 2: 500 ms, from 6 s',
          },
          {
            ...{ x: 800, width: 200, kind: 'done', stage: null, label: 'llm', isRetry: false },
            title: 'llm: 2 s, from 8 s',
          },
        ],
        words: ['Code, waiting: 1 s, from 5 s', 'red 2: 500 ms, from 6 s', 'llm: 2 s, from 8 s'],
      },
    ]);
    expect(kinds).toEqual(['code', 'check', 'waiting']);
  });

  test('of a limit: what is used, held back and asked for, one beside the other', () => {
    const meter = { name: '', level: 4, limit: 5, reserved: 0.5, next: 1, unit: 'usd' as const };
    const { bars, limitAt, words } = meterShapes(meter);
    expect(bars.map(({ kind }) => kind)).toEqual(['level', 'reserved', 'next']);
    expect(bars.map(({ x, width }) => x + width).slice(0, 2)).toEqual(bars.map(({ x }) => x).slice(1));
    expect(limitAt).toBeLessThan((bars[2]?.x ?? 0) + (bars[2]?.width ?? 0));
    expect(words).toBe('$4.00 of $5.00, $0.50 reserved, the next call $1.00');
  });

  test('of a score, and of a figure that no limit is known of', () => {
    const none = { name: '', limit: null, reserved: 0, next: 0 };
    expect(meterShapes({ ...none, level: 0.82, unit: 'score' })).toEqual({
      bars: [{ kind: 'level', x: 0, width: 820 }],
      limitAt: null,
      words: '0.82 of 1',
    });
    expect(meterShapes({ ...none, level: 1_200, unit: 'count' }).words).toBe('1,200');
    expect(meterShapes({ ...none, level: 0, unit: 'count' }).bars).toEqual([]);
  });
});

describe('the log of a page', () => {
  const page = (from: number, to: number, earlier: number | null = from) => ({
    entries: Array.from({ length: to - from + 1 }, (_, at) => ({ seq: from + at }) as LogEntry),
    earlier,
  });
  const seqs = (view: ReturnType<typeof mergedLog>) => view.entries.map(({ seq }) => seq);

  test('keeps each line once, in order, and knows where it goes on backwards', () => {
    const newer = mergedLog(page(5, 9), page(7, 12));
    expect([seqs(newer), newer.earlier]).toEqual([[5, 6, 7, 8, 9, 10, 11, 12], 5]);
    const older = mergedLog(newer, page(1, 4, null));
    expect([seqs(older).length, older.earlier]).toEqual([12, null]);
    expect(mergedLog(page(1, 0, null), page(1, 2, 1)).earlier).toBe(1);
    expect(mergedLog(null, page(1, 2))).toEqual(page(1, 2));
  });

  test('lets the oldest go while a long run goes on, but not those that were asked for', () => {
    const long = mergedLog(page(1, 1_900, null), page(1_850, 2_100));
    expect([seqs(long)[0], long.entries.length, long.earlier]).toEqual([101, 2_000, 101]);
    expect(mergedLog(long, page(1, 100, null)).entries).toHaveLength(2_100);
  });
});

describe('words', () => {
  test.for([
    [80, '80 ms'],
    [12_000, '12 s'],
    [247_000, '4 min 7 s'],
    [3_600_000, '1 h'],
    [7_500_000, '2 h 5 min'],
    [183_600_000, '2 d 3 h'],
  ] as const)('%d ms are %s', ([ms, words]) => {
    expect(formatDuration(ms)).toBe(words);
  });

  test('little is not nothing, and neither is what has no price', () => {
    expect([0, 0.004, 0.01, 1].map(formatDollars)).toEqual(['$0.00', '$0.004', '$0.01', '$1.00']);
    const cost = (costUsd: number, unpriced: number, calls: number): string =>
      formatCost({ costUsd, unpriced, calls });
    expect([cost(0, 0, 0), cost(0, 0, 1), cost(0, 1, 0), cost(0.2, 1, 1)]).toEqual([
      '',
      '$0.00',
      'no price known',
      '$0.20',
    ]);
  });

  test('amounts are told in what they are measured in', () => {
    expect([formatMeasure('usd', 1.2), formatMeasure('ms', 61_000), formatMeasure('tokens', 1_200)]).toEqual([
      '$1.20',
      '1 min 1 s',
      '1,200 tokens',
    ]);
  });

  test('of a rewind are those of the command line', () => {
    const view = (label: string, status: 'completed' | 'failed') => ({ label, status }) as never;
    const plan = { target: view('T1', 'completed'), undone: [view('T2', 'completed'), view('T3', 'failed')] };
    const done = { commit: 'abcdef0123', kept: null, delivery: null };
    expect(formatRewindResult({ plan, done }, 'back', 'shop')).toEqual([
      'rewound to the end of T1, undone: T2, T3',
      'the branch of the run is at abcdef0; its history is complete',
      'to redo them: devs resume shop',
    ]);
    const branch = { branch: 'devs/shop', commit: 'c', held: 'checked_out' } as const;
    expect(
      formatRewindResult(
        { plan: null, done: { commit: null, kept: 'refs/k', delivery: branch } },
        'undo',
        'shop',
      ),
    ).toEqual([
      'rewind undone',
      "uncommitted changes were saved; to see them in the run's folder: git show refs/k",
      'devs/shop in your repository was not updated: you have it checked out',
      'to resume: devs resume shop',
    ]);
    expect(formatRewindResult({ plan: null, done: null }, 'preview', 'shop')).toEqual([
      'no task was started after it',
    ]);
    const rewind = (state: 'done' | 'undone') => ({ state }) as never;
    expect([lastRewind([]), lastRewind([rewind('undone')])]).toEqual([null, null]);
    expect(lastRewind([rewind('done')])).not.toBeNull();
  });
});
