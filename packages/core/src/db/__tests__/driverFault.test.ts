import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { assertDriverFits, type DriverManifest, installedDriver, toDriverFault } from '../connect.ts';

const require = createRequire(import.meta.url);
/** The driver that users of the packages get; the checkout's runs on Node.js 20. */
const atRoot = createRequire(new URL('../../../../../package.json', import.meta.url));

const DRIVERS = ['better-sqlite3', 'better-sqlite3-multiple-ciphers'] as const;

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

  it.each(DRIVERS)('is known by what %s says that brings no build for the machine', (name) => {
    const driver = path.dirname(atRoot.resolve(`${name}-13/package.json`));
    // As on a machine without a build: what the driver looks for first, and last, is not there.
    const error = thrownBy(() => atRoot(path.join(driver, 'build', 'Release', 'better_sqlite3.node')));
    expect(readFileSync(path.join(driver, 'lib', 'binding.js'), 'utf8')).toContain(
      "path.join(__dirname, '..', 'build', 'Release', 'better_sqlite3.node')",
    );
    expect(toDriverFault(error, name)).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(`${name} has no build for this machine`),
      remedy: expect.stringContaining(`npm run build-release\` in the folder node_modules/${name},`),
    });
  });

  it.each(DRIVERS)('is refused by a Node.js that %s would end with a segmentation fault', (name) => {
    const newest = atRoot(`${name}-13/package.json`) as DriverManifest;
    expect(() => assertDriverFits(newest, '20.20.2')).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `${name} ${newest.version} needs Node.js 22 or later; this is 20.20.2.`,
      }),
    );
    expect(() => assertDriverFits(newest, '22.12.0')).not.toThrow();
    expect(() => assertDriverFits(newest, '100.0.0')).not.toThrow();
  });

  it('is not refused where it says nothing of a least Node.js', () => {
    const versions = { node: '20.x || 22.x || 23.x || 24.x' };
    for (const engines of [versions, {}, undefined]) {
      const driver = { version: '12.11.1', ...(engines && { engines }) };
      expect(() => assertDriverFits(driver, '20.20.2')).not.toThrow();
    }
  });

  it('is not refused where this checkout runs', () => {
    const installed = installedDriver(import.meta.url);
    expect(installed?.version).toMatch(/^1[23]\.\d+\.\d+$/);
    expect(() => assertDriverFits(installed, process.versions.node)).not.toThrow();
  });

  it('is not refused where nothing can be read about it', () => {
    expect(installedDriver('data:text/javascript,')).toBeNull();
    expect(() => assertDriverFits(null, '20.20.2')).not.toThrow();
  });

  it('is nothing else', () => {
    expect(toDriverFault(new Error('disk I/O error'))).toBeNull();
    expect(toDriverFault('text')).toBeNull();
  });
});
