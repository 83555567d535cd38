// Writes packages/core/test/db/schema.sql: the schema after all migrations, so that a review sees what a change does
// to the whole. `--check` writes nothing and fails when the file is stale.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const core = fileURLToPath(new URL('../packages/core/', import.meta.url));
const Database = createRequire(join(core, 'package.json'))('better-sqlite3');
const snapshot = join(core, 'test/db/schema.sql');
const folder = join(core, 'src/db/migrations');

const db = new Database(':memory:');
for (const file of readdirSync(folder).sort()) {
  if (file.endsWith('.sql')) db.exec(readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n'));
}
const objects = db
  .prepare(
    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type DESC, name",
  )
  .pluck()
  .all();
const text = `${objects.join(';\n\n')};\n`;
db.close();

if (!existsSync(snapshot) || readFileSync(snapshot, 'utf8') !== text) {
  if (process.argv.includes('--check')) {
    console.error(`${snapshot} is stale: run node scripts/dump-schema.mjs`);
    process.exitCode = 1;
  } else {
    writeFileSync(snapshot, text);
    console.log(`wrote ${snapshot}`);
  }
}
