// `pnpm bench:plots`: draws docs/plots/*.svg anew from the figures beside them. Figures come from a bench:
//   pnpm -s bench:drivers --json > docs/plots/drivers.json
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PICTURES, type Pictures } from './plot/pictures.ts';

const folder = new URL('../../../docs/plots/', import.meta.url);

for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
  const draw: ((figures: never) => Promise<Pictures>) | undefined =
    PICTURES[file.slice(0, -'.json'.length) as keyof typeof PICTURES];
  if (draw === undefined)
    throw new RangeError(`Expected figures of ${Object.keys(PICTURES).join(', ')}, got ${file}.`);
  const figures = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as never;
  for (const [name, svg] of Object.entries(await draw(figures))) {
    const to = fileURLToPath(new URL(`${name}.svg`, folder));
    writeFileSync(to, svg);
    console.log(to);
  }
}
