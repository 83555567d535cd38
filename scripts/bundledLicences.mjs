// The licences of third-party code that a bundle contains, as one text to publish with it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The package that a file lies in. */
const PACKAGE = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/;

/**
 * @param bundle - What contains them.
 * @param files - Absolute paths of what it was made from.
 * @throws Error for a package that has no text of its licence with it.
 */
export function bundledLicences(bundle, files) {
  const folders = new Set(files.flatMap((file) => PACKAGE.exec(file)?.[1] ?? []));
  const texts = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const title = `${name} ${version} (${license})`;
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${title} has no text of its licence`);
    return `${title}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  return `${bundle} contains code of these packages.\n\n${texts.sort().join(`\n${'-'.repeat(72)}\n\n`)}`;
}
