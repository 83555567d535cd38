/** Arguments for `node` with which no file can be watched, as where a system has no watches left. */
export const UNWATCHED: readonly string[] = [
  '--import',
  `data:text/javascript,${encodeURIComponent(`
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    fs.watch = () => {
      throw Object.assign(new Error('no watches are left'), { code: 'ENOSPC' });
    };
    syncBuiltinESMExports();`)}`,
];
