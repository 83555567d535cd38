/** What every plot is drawn on: a size, one style that is readable on light and on dark, and text that cannot end an element. */

export const WIDTH = 720;

/** Colours that stay apart in both, and for those who do not tell red from green; dashes and marks tell series apart as well. */
const STYLE = `
svg { color-scheme: light dark; font: 12px system-ui, sans-serif; }
.ground { fill: #ffffff; } text { fill: #24292f; } .title { font-size: 14px; font-weight: 600; } .soft { fill: #57606a; }
.grid { stroke: #d0d7de; } .mark { stroke: #57606a; stroke-dasharray: 2 3; } .line { fill: none; stroke-width: 2; }
.s0 { stroke: #0550ae; fill: #0550ae; } .s1 { stroke: #bc4c00; fill: #bc4c00; } .s2 { stroke: #1a7f37; fill: #1a7f37; }
.s3 { stroke: #8250df; fill: #8250df; } .s4 { stroke: #57606a; fill: #57606a; } .s5 { stroke: #9a6700; fill: #9a6700; }
.s6 { stroke: #a40e26; fill: #a40e26; } .s7 { stroke: #116329; fill: #116329; }
@media (prefers-color-scheme: dark) {
.ground { fill: #0d1117; } text { fill: #e6edf3; } .soft { fill: #9198a1; }
.grid { stroke: #30363d; } .mark { stroke: #9198a1; }
.s0 { stroke: #79c0ff; fill: #79c0ff; } .s1 { stroke: #ffa657; fill: #ffa657; } .s2 { stroke: #7ee787; fill: #7ee787; }
.s3 { stroke: #d2a8ff; fill: #d2a8ff; } .s4 { stroke: #9198a1; fill: #9198a1; } .s5 { stroke: #e3b341; fill: #e3b341; }
.s6 { stroke: #ff7b72; fill: #ff7b72; } .s7 { stroke: #56d4dd; fill: #56d4dd; }
}
text { stroke: none; } .line { fill: none; }`;

/** So many series can be told apart. */
export const LOOKS = 8;

const DASHES = ['', '7 4', '2 3', '9 3 2 3', '4 2', '12 4', '1 5', '14 3 3 3'] as const;

export const dashOf = (series: number): string => {
  const dash = DASHES[series % LOOKS] ?? '';
  return dash === '' ? '' : ` stroke-dasharray="${dash}"`;
};

/** @param parts - Elements, in the order in which they are drawn. */
export function sheet(title: string, height: number, parts: readonly string[]): string {
  const size = `width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escaped(title)}">`,
    `<style>${STYLE}\n</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}"/>`,
    text({ x: 16, y: 24, says: title, look: 'title' }),
    ...parts,
    '</svg>\n',
  ].join('\n');
}

interface Words {
  readonly x: number;
  readonly y: number;
  readonly says: string;
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly look?: 'title' | 'soft';
}

export function text({ x, y, says, anchor = 'start', look }: Words): string {
  const style = look === undefined ? '' : ` class="${look}"`;
  return `<text x="${point(x)}" y="${point(y)}" text-anchor="${anchor}"${style}>${escaped(says)}</text>`;
}

export function line(look: string, [x1, y1]: Place, [x2, y2]: Place): string {
  return `<line class="${look}" x1="${point(x1)}" y1="${point(y1)}" x2="${point(x2)}" y2="${point(y2)}"/>`;
}

export type Place = readonly [number, number];

/** A tenth of a unit is as fine as anybody sees, and the same figures give the same bytes. */
export const point = (value: number): string => String(Math.round(value * 10) / 10);

/** 10000 is 10,000, and 0.30000000000000004 is 0.3. */
export const figure = (value: number): string =>
  Number(value.toPrecision(4)).toLocaleString('en', { maximumFractionDigits: 6 });

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (says: string): string => says.replaceAll(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign);
