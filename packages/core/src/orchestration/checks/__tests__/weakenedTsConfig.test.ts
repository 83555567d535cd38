import { describe, expect, test } from 'vitest';
import { weakenedTsConfig } from '../weakenedSettings.ts';

/** What a change of `before` to `after` weakens; texts are taken as they are. */
const weakened = (before: object | string | null, after: object | string | null): readonly string[] =>
  weakenedTsConfig({ path: 'tsconfig.json', before: textOf(before), after: textOf(after) }).map((words) =>
    words.replace('it is less strict: ', ''),
  );
const textOf = (config: object | string | null): string | null =>
  config === null || typeof config === 'string' ? config : JSON.stringify(config);
const options = (compilerOptions: object) => ({ compilerOptions });

describe('a tsconfig.json is weaker', () => {
  test.each<[string, object, object, readonly string[]]>([
    ['without strict', options({ strict: true }), options({}), ['strict']],
    ['without any options', options({ noImplicitReturns: true }), {}, ['noImplicitReturns']],
    [
      'where what strict holds is turned off',
      options({ strict: true }),
      options({ strict: true, strictNullChecks: false }),
      ['strictNullChecks'],
    ],
    ['where libraries are no longer checked', {}, options({ skipLibCheck: true }), ['skipLibCheck']],
    ['where less is included', { include: ['src', 'test'] }, { include: ['src'] }, ['include test']],
    ['where fewer files are named', { files: ['a.ts', 'b.ts'] }, { files: ['a.ts'] }, ['files b.ts']],
    ['where more is left out', {}, { exclude: ['test', 'dist'] }, ['exclude test']],
    ['where it extends another one', { extends: './strict.json' }, { extends: './lax.json' }, ['extends']],
    ['where it extends none', { extends: './strict.json' }, {}, ['extends']],
  ])('%s', (_name, before, after, what) => {
    expect(weakened(before, after)).toEqual(what);
  });

  test.each<[string, object | string | null, object | string]>([
    ['what strict implies is no longer said', options({ noImplicitAny: true }), options({ strict: true })],
    ['it is stricter', options({}), options({ strict: true, noUnusedLocals: true })],
    [
      'it builds for another target',
      options({ target: 'es2020' }),
      options({ target: 'es2022', outDir: 'dist' }),
    ],
    ['all files are included', { include: ['src'] }, {}],
    ['it leaves out less', { exclude: ['test'] }, { exclude: [] }],
    ['it has extended none', {}, { extends: './strict.json' }],
    ['it was not there', null, options({ strict: false })],
    ['it was no JSON', '{ "compilerOptions": ', options({})],
    [
      'only comments and commas change',
      '{ "compilerOptions": { "strict": true, /* all */ }, // "x"\n }',
      options({ strict: true }),
    ],
  ])('but not where %s', (_name, before, after) => {
    expect(weakened(before, after)).toEqual([]);
  });

  test('where it can no longer be read, its lines are compared', () => {
    const before = '{\n  "strict": true\n}\n';
    expect(weakened(before, 'strict')).toEqual(['no longer says strict: true']);
    expect(weakened(before, 'null')).toEqual(['no longer says strict: true']);
    expect(weakened(before, null)).toEqual(['no longer says strict: true']);
  });
});
