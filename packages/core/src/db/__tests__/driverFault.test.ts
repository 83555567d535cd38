import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { toDriverFault } from '../driverFault.ts';

const require = createRequire(import.meta.url);

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('a driver that cannot be loaded', () => {
  it('is a matter of its installation, with the command that mends it', () => {
    // No shared library, as one of another platform is none.
    const error = thrownBy(() => process.dlopen({ exports: {} }, import.meta.filename));
    expect(toDriverFault(error)).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(process.version),
      remedy: expect.stringContaining('rebuild better-sqlite3'),
    });
  });

  it('is known by the words of the installed version when it was not built', () => {
    const driver = path.dirname(require.resolve('better-sqlite3/package.json'));
    const bindings = createRequire(path.join(driver, 'lib', 'database.js')).resolve('bindings');
    expect(readFileSync(bindings, 'utf8')).toContain('Could not locate the bindings file');
    const error = new Error('Could not locate the bindings file. Tried: …');
    expect(toDriverFault(error)).toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('is nothing else', () => {
    expect(toDriverFault(new Error('disk I/O error'))).toBeNull();
    expect(toDriverFault('text')).toBeNull();
  });
});
