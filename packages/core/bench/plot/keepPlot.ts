import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PLOTS = new URL('../../../../docs/plots/', import.meta.url);

/** Writes a plot to where docs/benchmarks.md shows it from. @param name - Without `.svg`. */
export function keepPlot(name: string, svg: string): void {
  mkdirSync(PLOTS, { recursive: true });
  const file = fileURLToPath(new URL(`${name}.svg`, PLOTS));
  writeFileSync(file, svg);
  process.stderr.write(`written: ${file}\n`);
}
