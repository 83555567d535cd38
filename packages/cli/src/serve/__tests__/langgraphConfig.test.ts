import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readLanggraphConfig } from '../langgraphConfig.ts';

function written(config: unknown): { readonly file: string; readonly dir: string } {
  const dir = mkdtempSync(join(tmpdir(), 'devs-serve-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'langgraph.json');
  writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config));
  return { file, dir };
}

const agent = { agent: './src/agent.ts:graph' };

describe('readLanggraphConfig', () => {
  test('names the graphs by file and export, and what is not used', () => {
    const { file, dir } = written({
      node_version: '22',
      dependencies: ['.'],
      dockerfile_lines: [],
      graphs: {
        ...agent,
        made: { path: './made.js:default', description: 'a factory' },
        old: './old.py:graph',
      },
      auth: { path: './auth.ts:auth' },
      http: { cors: {} },
      store: { index: { dims: 3 } },
      ui: { agent: './ui.tsx' },
    });
    expect(readLanggraphConfig(file)).toEqual({
      folder: dir,
      graphs: [
        { id: 'agent', file: join(dir, 'src/agent.ts'), exportName: 'graph' },
        { id: 'made', file: join(dir, 'made.js'), exportName: 'default' },
      ],
      webhooks: {},
      telemetry: false,
      env: {},
      notTaken: ['auth', 'http', 'ui', 'store.index', 'the Python graph old'],
    });
  });

  test('takes variables from a file and from an object; a list names those that must be set', () => {
    const { file, dir } = written({ graphs: agent, env: '.env' });
    expect(() => readLanggraphConfig(file)).toThrow(/\.env does not exist/);
    writeFileSync(join(dir, '.env'), '# keys\nA=1\nB="two words"\n');
    expect(readLanggraphConfig(file).env).toEqual({ A: '1', B: 'two words' });
    expect(readLanggraphConfig(written({ graphs: agent, env: { C: '3' } }).file).env).toEqual({ C: '3' });
    vi.stubEnv('DEVS_TEST_SET', 'x');
    onTestFinished(() => void vi.unstubAllEnvs());
    const listed = (...names: string[]) =>
      readLanggraphConfig(written({ graphs: agent, env: names }).file).env;
    expect(listed('DEVS_TEST_SET')).toEqual({});
    expect(() => listed('DEVS_TEST_SET', 'DEVS_TEST_UNSET')).toThrow(/no value: DEVS_TEST_UNSET/);
  });

  test.for([
    ['no JSON', '{', 'cannot be read'],
    ['no graphs', {}, 'graphs'],
    ['a graph without an export', { graphs: { agent: './agent.ts' } }, './src/agent.ts:graph'],
    ['no graph of ours', { graphs: { old: './old.py:graph' } }, 'names no graph'],
    ['a name that is no assistant', { graphs: { 'a b': './agent.ts:graph' } }, '"a b"'],
    [
      'a name of the prototype',
      '{"graphs":{"__proto__":"./agent.ts:graph","a/b":"./agent.ts:graph"}}',
      'a/b',
    ],
    ['variables of another shape', { graphs: agent, env: 7 }, 'env'],
  ] as const)('refuses %s', ([, config, said]) => {
    const { file } = written(config);
    expect(() => readLanggraphConfig(file)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    expect(() => readLanggraphConfig(file)).toThrow(said);
  });

  test('has webhooks, and refuses one that lacks a member or has another', () => {
    const team = { url: '$TEAM_URL', secret: '$TEAM_SECRET', events: [] };
    const graphs = { agent: './agent.js:graph' };
    expect(readLanggraphConfig(written({ graphs, devs: { webhooks: { team } } }).file).webhooks).toEqual({
      team,
    });
    for (const odd of [{ url: 'x' }, { ...team, header: 'x' }, 'https://a.example'])
      expect(() => readLanggraphConfig(written({ graphs, devs: { webhooks: { odd } } }).file)).toThrow(
        expect.objectContaining({ code: 'CONFIG_INVALID' }),
      );
  });
});
