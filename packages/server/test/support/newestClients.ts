import { join } from 'node:path';
import { env } from 'node:process';
import type { Plugin } from 'vitest/config';

/** A folder with newer versions of the stock clients: `scripts/newest-clients.mjs` makes one. */
const FOLDER = env['DEVS_NEWEST_CLIENTS'] ?? '';

/** Files that are or mount a client; the programs that are served keep what the checkout has. */
const USES_CLIENTS = /packages\/server\/test\/(?:clients\/|support\/mount\.ts)/;

/** Has the tests of the stock clients use those of a folder; what is not there stays as it is pinned. */
export const newestClients: Plugin = {
  name: 'devs:newest-clients',
  enforce: 'pre',
  async resolveId(id, importer) {
    if (FOLDER === '' || importer === undefined || !USES_CLIENTS.test(importer.replaceAll('\\', '/')))
      return null;
    if (id.startsWith('.') || id.startsWith('@devs/')) return null;
    const found = await this.resolve(id, join(FOLDER, 'index.js'), { skipSelf: true });
    return found?.id.startsWith(FOLDER) === true ? found : null;
  },
};
