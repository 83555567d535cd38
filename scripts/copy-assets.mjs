// tsc copies no assets: put each package's src/**/*.sql beside its compiled module.
import { cpSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
for (const name of readdirSync(join(root, 'packages'))) {
  const src = join(root, 'packages', name, 'src');
  for (const entry of readdirSync(src, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.sql')) continue;
    const from = join(entry.parentPath, entry.name);
    cpSync(from, join(root, 'packages', name, 'dist', relative(src, from)));
  }
}
