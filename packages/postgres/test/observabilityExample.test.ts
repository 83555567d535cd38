import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { METRICS, metricsText, WorkerMeters } from '../src/cluster/metrics.ts';

const FOLDER = new URL('../../../examples/observability/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');

/** Where spans get their attributes. */
const SPANS = readFileSync(new URL('../../core/src/engine/telemetry/runSpans.ts', import.meta.url), 'utf8');

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

const dashboard = JSON.parse(read('dashboard.json')) as Dashboard;
const exprs = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

/** Names of metrics of a worker in a text; those of a histogram have an end. */
const metricsIn = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(/\bdevs_[a-z_]+/g)].map(([name]) => name)),
];

/** Dimensions that the collector adds to metrics of spans, by the names that Prometheus gives them. */
const dimensions = [...read('collector.yaml').matchAll(/- name: (devs\.[a-z.]+)/g)].map(
  ([, name = '']) => name,
);
const asLabel = (attribute: string): string => attribute.replaceAll('.', '_');

const known = new Set<string>(
  METRICS.flatMap(({ name, type }) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  ),
);

describe('the example of observability', () => {
  test.each(['alerts.yaml', 'dashboard.json'])('%s names metrics that a worker has', (name) => {
    const named = metricsIn(read(name)).filter((metric) => !dimensions.map(asLabel).includes(metric));
    expect(named.length).toBeGreaterThan(4);
    expect(named.filter((metric) => !known.has(metric))).toEqual([]);
  });

  test('groups metrics by labels that they have', () => {
    const line = { ready: 1, later: 0, active: 0, oldestSeconds: 1, runs: 1, workers: 0 };
    const text = metricsText({
      ...{ slots: 1, busy: 0, isReady: true, skewSeconds: 0, build: 'b', graphs: ['runs.posts.abc'] },
      meters: new WorkerMeters(),
      queues: [{ queue: 'runs.posts.abc', ...line }],
      tenants: [],
      dead: { deadLetters: 1, deadRows: 0 },
      numbers: {
        runs: [{ tenant: 'acme', status: 'waiting', runs: 1 }],
        gates: [{ tenant: 'acme', open: 1, oldestSeconds: 5 }],
      },
    } as unknown as Parameters<typeof metricsText>[0]);
    const grouped = [...`${read('alerts.yaml')}\n${exprs.join('\n')}`.matchAll(/by \((\w+)\) \((devs_\w+)/g)];
    expect(grouped.length).toBeGreaterThan(5);
    for (const [, label = '', metric = ''] of grouped)
      expect(text).toMatch(new RegExp(`^${metric}\\{[^}]*\\b${label}="`, 'm'));
  });

  test('makes metrics of attributes that spans have, and uses no others', () => {
    expect(dimensions.length).toBeGreaterThan(2);
    for (const attribute of dimensions) expect(SPANS).toContain(`'${attribute}'`);
    const used = exprs.join('\n').matchAll(/\b(devs_(?:node|step|gate_kind|outcome))\b/g);
    for (const [, label] of used) expect(dimensions.map(asLabel)).toContain(label);
    const names = `${read('alerts.yaml')}\n${exprs.join('\n')}`.matchAll(/span_name=~\\?"(\w+)/g);
    for (const [, name = ''] of names) expect(SPANS).toContain(`\`${name}`);
  });

  test('listens on loopback alone', () => {
    const places = [...read('collector.yaml').matchAll(/(?:endpoint: |targets: \[['"])([^\s'"\]]+)/g)];
    expect(places.length).toBe(4);
    for (const [, place = ''] of places) expect(place).toMatch(/^127\.0\.0\.1:\d+$/);
  });
});
