import { type ScaleKind, scaleOf } from './scale.ts';
import { figure, LOOKS, line, point, sheet, text, WIDTH } from './sheet.ts';

const [LEFT, RIGHT, TOP, BAR, GAP, FOOT] = [248, WIDTH - 88, 48, 16, 14, 40] as const;

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
 * A row of bars for each name, as an SVG document. The same figures give the same bytes.
 *
 * @throws RangeError for no row, a row without one value per series, more than eight, and figures that the axis cannot have.
 */
export function barPlot({ title, says, kind = 'linear', series, rows, aim }: BarPlot): string {
  const odd = rows.find(({ values }) => values.length !== series.length);
  if (odd !== undefined || series.length > LOOKS)
    throw new RangeError(
      `Expected one value for each of at most ${LOOKS} series in ${odd?.name ?? 'a row'}.`,
    );
  const values = [...rows.flatMap((row) => row.values), ...(aim === undefined ? [] : [aim])];
  const across = scaleOf({ kind, values, from: LEFT, to: RIGHT });
  const height = series.length * BAR + GAP;
  const bottom = TOP + rows.length * height;
  const grid = across.ticks.flatMap((tick) => [
    line('grid', [across.at(tick), TOP - 6], [across.at(tick), bottom]),
    text({ x: across.at(tick), y: bottom + 16, says: figure(tick), anchor: 'middle', look: 'soft' }),
  ]);
  const bars = rows.flatMap(({ name, values: lengths }, row) => {
    const top = TOP + row * height;
    return [
      text({ x: LEFT - 10, y: top + (series.length * BAR) / 2 + 4, says: name, anchor: 'end' }),
      ...lengths.map((length, at) => bar(across.at(length), top + at * BAR, { at, length })),
    ];
  });
  const marks = aim === undefined ? [] : [line('mark', [across.at(aim), TOP - 6], [across.at(aim), bottom])];
  const legend = series.length < 2 ? [] : series.map((name, at) => key(name, at, bottom + FOOT));
  const foot = text({ x: RIGHT, y: bottom + 34, says, anchor: 'end', look: 'soft' });
  const rest = legend.length * 18 + FOOT + 4;
  return sheet(title, bottom + rest, [...grid, ...bars, ...marks, foot, ...legend]);
}

function bar(
  to: number,
  y: number,
  { at, length }: { readonly at: number; readonly length: number },
): string {
  const shape = `x="${LEFT}" y="${point(y + 1)}" width="${point(to - LEFT)}" height="${BAR - 2}"`;
  const said = text({ x: to + 6, y: y + BAR - 4, says: figure(length), look: 'soft' });
  return `<rect class="s${at}" ${shape}/>\n${said}`;
}

function key(name: string, at: number, top: number): string {
  const y = top + at * 18;
  return `<rect class="s${at}" x="16" y="${y}" width="12" height="12"/>\n${text({ x: 36, y: y + 11, says: name })}`;
}
