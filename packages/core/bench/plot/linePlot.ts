import { type ScaleKind, scaleOf } from './scale.ts';
import { dashOf, figure, LOOKS, line, type Place, point, sheet, text, WIDTH } from './sheet.ts';

const [LEFT, RIGHT, TOP, HEIGHT, FOOT, ROW] = [64, WIDTH - 24, 44, 260, 44, 18] as const;

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
  readonly series: readonly { readonly name: string; readonly points: readonly Place[] }[];
}

/**
 * Lines over the values that were measured, as an SVG document. The same figures give the same bytes.
 *
 * @throws RangeError for no point, more than eight series, and figures that an axis cannot have.
 */
export function linePlot({ title, x, y, series }: LinePlot): string {
  if (series.length > LOOKS) throw new RangeError(`Expected at most ${LOOKS} series, got ${series.length}.`);
  const points = series.flatMap((each) => each.points);
  const values = { x: points.map(([at]) => at), y: points.map(([, at]) => at) };
  const bottom = TOP + HEIGHT;
  const across = scaleOf({
    kind: x.kind ?? 'linear',
    values: values.x,
    from: LEFT,
    to: RIGHT,
    isTight: true,
  });
  const up = scaleOf({ kind: y.kind ?? 'linear', values: values.y, from: bottom, to: TOP });
  const grid = [
    ...up.ticks.flatMap((tick) => [
      line('grid', [LEFT, up.at(tick)], [RIGHT, up.at(tick)]),
      text({ x: LEFT - 8, y: up.at(tick) + 4, says: figure(tick), anchor: 'end', look: 'soft' }),
    ]),
    ...across.ticks.flatMap((tick) => [
      line('grid', [across.at(tick), bottom], [across.at(tick), bottom + 5]),
      text({ x: across.at(tick), y: bottom + 18, says: figure(tick), anchor: 'middle', look: 'soft' }),
    ]),
    text({ x: RIGHT, y: bottom + 36, says: x.says, anchor: 'end', look: 'soft' }),
    text({ x: LEFT, y: bottom + 36, says: y.says, look: 'soft' }),
  ];
  const drawn = series.map((each, at) => {
    const places = each.points.map(([px, py]): Place => [across.at(px), up.at(py)]);
    const dots = places.map(
      ([cx, cy]) => `<circle class="s${at}" cx="${point(cx)}" cy="${point(cy)}" r="3"/>`,
    );
    return [lineThrough(places, at), ...dots].join('\n');
  });
  const legend = series.map(({ name }, at) => {
    const row = bottom + FOOT + 12 + at * ROW;
    return [
      lineThrough([place(LEFT, row), place(LEFT + 28, row)], at),
      text({ x: LEFT + 38, y: row + 4, says: name }),
    ].join('\n');
  });
  return sheet(title, bottom + FOOT + 12 + series.length * ROW, [...grid, ...drawn, ...legend]);
}

const place = (x: number, y: number): Place => [x, y];

function lineThrough(places: readonly Place[], series: number): string {
  const through = places.map(([x, y]) => `${point(x)},${point(y)}`).join(' ');
  return `<polyline class="line s${series}"${dashOf(series)} points="${through}"/>`;
}
