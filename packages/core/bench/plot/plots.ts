// Plots as SVG documents, drawn by Vega-Lite: lines and bars, readable on light and on dark. The same figures give the same bytes.
// Trap: Vega-Lite gives `Set.prototype` a `toJSON` when it is loaded, for the whole process.
import { parse, View } from 'vega';
import { type Config, compile, type TopLevelSpec } from 'vega-lite';

/** Colours that stay apart in both, and for those who do not tell red from green; dashes tell lines apart as well. */
const STYLE = `<style>
svg { color-scheme: light dark; --ground: #ffffff; --text: #24292f; --soft: #57606a; --grid: #d0d7de;
--s0: #0550ae; --s1: #bc4c00; --s2: #1a7f37; --s3: #8250df; --s4: #57606a; --s5: #9a6700; --s6: #a40e26; --s7: #116329; }
@media (prefers-color-scheme: dark) { svg { --ground: #0d1117; --text: #e6edf3; --soft: #9198a1; --grid: #30363d;
--s0: #79c0ff; --s1: #ffa657; --s2: #7ee787; --s3: #d2a8ff; --s4: #9198a1; --s5: #e3b341; --s6: #ff7b72; --s7: #56d4dd; } }
</style>`;

const DASHES = [
  [1, 0],
  [7, 4],
  [2, 3],
  [9, 3, 2, 3],
  [4, 2],
  [12, 4],
  [1, 5],
  [14, 3, 3, 3],
];

/** So many series can be told apart. */
export const LOOKS = DASHES.length;

const COLORS = DASHES.map((_, at) => `var(--s${at})`);

/** 10000 is 10,000, and 0.30000000000000004 is 0.3. */
const FIGURE = ',.4~r';

const SIZE = { width: 720, autosize: { type: 'fit-x', contains: 'padding' } } as const;

const LOOK: Config = {
  aria: false,
  background: 'var(--ground)',
  font: 'system-ui, sans-serif',
  numberFormat: FIGURE,
  padding: 16,
  rule: { color: 'var(--soft)', strokeDash: [2, 3] },
  view: { stroke: null },
  title: { anchor: 'start', frame: 'bounds', color: 'var(--text)', fontSize: 14 },
  axis: {
    ...{ labelColor: 'var(--soft)', titleColor: 'var(--soft)', labelFontSize: 12, titleFontSize: 12 },
    ...{ gridColor: 'var(--grid)', domainColor: 'var(--grid)', tickColor: 'var(--grid)' },
    ...{ labelBound: false, labelFlush: false, labelPadding: 6 },
    ...{ titleAnchor: 'end', titleFontWeight: 'normal' },
  },
  legend: {
    ...{ labelColor: 'var(--text)', labelFontSize: 12, labelLimit: 600 },
    ...{ orient: 'bottom', direction: 'vertical', rowPadding: 6, offset: 12 },
  },
};

type ScaleKind = 'linear' | 'log';

export interface Axis {
  readonly says: string;
  /** @defaultValue linear */
  readonly kind?: ScaleKind;
}

export interface LinePlot {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  /** At most eight; points in the order in which the line goes. */
  readonly series: readonly {
    readonly name: string;
    readonly points: readonly (readonly [x: number, y: number])[];
  }[];
}

export interface BarPlot {
  readonly title: string;
  /** What the length of a bar is. */
  readonly says: string;
  /** @defaultValue linear */
  readonly kind?: ScaleKind;
  /** At most eight; every row has one bar of each. */
  readonly series: readonly string[];
  readonly rows: readonly { readonly name: string; readonly values: readonly number[] }[];
  /** Drawn across the bars: what is aimed at. */
  readonly aim?: number;
}

/**
 * Lines over the values that were measured.
 *
 * @throws RangeError for no point, more than eight series, and figures that an axis cannot have.
 */
export function linePlot({ title, x, y, series }: LinePlot): Promise<string> {
  requireLooks(series.length);
  const values = series.flatMap(({ name, points }) =>
    points.map(([across, up], order) => ({ series: name, across, up, order })),
  );
  const ticks = [...new Set(values.map(({ across }) => across))].toSorted((a, b) => a - b);
  requireFigures(x.kind, ticks);
  const up = roundScale(
    y.kind,
    values.map((value) => value.up),
  );
  return drawn(title, {
    ...{ ...SIZE, title, height: 260, data: { values } },
    mark: { type: 'line', strokeWidth: 2, point: { size: 36 } },
    encoding: {
      x: {
        ...{ field: 'across', type: 'quantitative', title: x.says },
        scale: { type: x.kind ?? 'linear', domain: [ticks[0] ?? 0, ticks.at(-1) ?? 0], nice: false },
        axis: { grid: false, values: ticks },
      },
      y: {
        ...{ field: 'up', type: 'quantitative', title: y.says, scale: up.scale },
        axis: { ...up.axis, titleAlign: 'left', titleAngle: 0, titleX: 0, titleY: -12 },
      },
      order: { field: 'order' },
      color: { ...BY_SERIES, scale: { range: COLORS }, legend: LINES },
      strokeDash: { ...BY_SERIES, scale: { range: DASHES } },
    },
  });
}

/**
 * A row of bars for each name.
 *
 * @throws RangeError for no row, a row without one value per series, more than eight, and figures that the axis cannot have.
 */
export function barPlot({ title, says, kind, series, rows, aim }: BarPlot): Promise<string> {
  requireLooks(series.length);
  const odd = rows.find((row) => row.values.length !== series.length);
  if (odd !== undefined) throw new RangeError(`Expected one value for each series in ${odd.name}.`);
  const values = rows.flatMap((row) =>
    row.values.map((value, at) => ({ name: row.name, series: series[at], value })),
  );
  const { scale, axis } = roundScale(kind, [
    ...values.map(({ value }) => value),
    ...(aim === undefined ? [] : [aim]),
  ]);
  const x = { field: 'value', type: 'quantitative', title: says, scale, axis } as const;
  const place = {
    x,
    y: { field: 'name', type: 'nominal', sort: null, title: null, axis: NAMES },
    yOffset: { field: 'series', sort: null },
  } as const;
  const color = {
    ...{ ...BY_SERIES, scale: { range: COLORS } },
    ...(series.length < 2 && { legend: null }),
  } as const;
  return drawn(title, {
    ...{ ...SIZE, title, height: rows.length * (series.length * 16 + 14), data: { values } },
    layer: [
      { mark: 'bar', encoding: { ...place, x2: { datum: scale.domain?.[0] ?? 0 }, color } },
      {
        mark: { type: 'text', align: 'left', dx: 6, color: 'var(--soft)' },
        encoding: { ...place, text: { field: 'value', format: FIGURE } },
      },
      ...(aim === undefined ? [] : [{ mark: 'rule' as const, encoding: { x: { datum: aim } } }]),
    ],
  });
}

const BY_SERIES = { field: 'series', type: 'nominal', sort: null, title: null } as const;

/** The symbol is wider than its size says: room for all dashes, and rows that are no higher for it. */
const LINES = { symbolType: 'M-3.5,0h7', symbolSize: 64, symbolOffset: 10, labelOffset: 24 } as const;

const NAMES = { domain: false, ticks: false, labelColor: 'var(--text)', labelLimit: 240 } as const;

function requireLooks(series: number): void {
  if (series > LOOKS) throw new RangeError(`Expected at most ${LOOKS} series, got ${series}.`);
}

/** @throws RangeError for no value, one that is no number, and one below what the axis can have. */
function requireFigures(kind: ScaleKind = 'linear', values: readonly number[]): void {
  const least = kind === 'log' ? Number.MIN_VALUE : 0;
  const wrong = values.find((value) => !(value >= least && value < Number.POSITIVE_INFINITY));
  if (values.length > 0 && wrong === undefined) return;
  throw new RangeError(`Expected values for a ${kind} axis, got ${wrong ?? 'none'}.`);
}

/** An axis that ends at round numbers: of a logarithmic one, powers of ten, and a line at each. */
function roundScale(kind: ScaleKind = 'linear', values: readonly number[]) {
  requireFigures(kind, values);
  const bare = { domain: false, ticks: false } as const;
  if (kind === 'linear') return { scale: { nice: 5 }, axis: { ...bare, tickCount: 5 } };
  const first = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9));
  const powers = Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at));
  const domain = [powers[0] ?? 1, powers.at(-1) ?? 1];
  return { scale: { type: 'log' as const, domain }, axis: { ...bare, values: powers } };
}

async function drawn(title: string, spec: TopLevelSpec): Promise<string> {
  const svg = await new View(parse(compile(spec, { config: LOOK }).spec), { renderer: 'none' }).toSVG();
  return svg
    .replaceAll(/="[^"]*"/g, (attribute) => attribute.replaceAll(/\d+\.\d\d+(?:e-\d+)?/g, rounded))
    .replace('<svg ', `<svg role="img" aria-label="${escaped(title)}" `)
    .replace('>', `>${STYLE}`)
    .replaceAll('><', '>\n<')
    .concat('\n');
}

/** A tenth of a unit is as fine as anybody sees, and the same on every machine. */
const rounded = (figure: string): string => String(Math.round(Number(figure) * 10) / 10);

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (words: string): string => words.replaceAll(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign);
