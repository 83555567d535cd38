// A machine on which the driver that encrypts is not installed: who has no key goes on, who has one is told.
import { readdirSync } from 'node:fs';
import Module from 'node:module';
import { dirname, join } from 'node:path';
import { createDatabase } from '../../src/db/createDatabase.ts';

const [, , dbPath = '', key = ''] = process.argv;
const loader = Module as unknown as { _resolveFilename(name: string, ...rest: unknown[]): string };
const { _resolveFilename: resolve } = loader;
loader._resolveFilename = (name, ...rest) => {
  if (!name.startsWith('better-sqlite3-multiple-ciphers')) return resolve(name, ...rest);
  throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' });
};

createDatabase({ dbPath }).close();
try {
  createDatabase({ dbPath: join(dirname(dbPath), 'new', 'state.sqlite'), encryptionKey: key });
} catch (error) {
  const { code, message, remedy } = error as Record<string, unknown>;
  process.stdout.write(JSON.stringify({ code, message, remedy, left: readdirSync(dirname(dbPath)) }));
}
