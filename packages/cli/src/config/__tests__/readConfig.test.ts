import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configPath } from '../configFile.ts';
import { configSchemaText } from '../ProjectConfig.ts';
import { readConfig } from '../readConfig.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'devs-config-'));
  mkdirSync(path.join(dir, '.devs'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

it('publishes its JSON Schema as it is', async () => {
  await expect(configSchemaText()).toMatchFileSnapshot('../../../config.schema.json');
});

describe('readConfig', () => {
  it('has defaults where there is no file', async () => {
    expect((await readConfig(dir)).config).toEqual({
      repository: true,
      research: true,
      checks: [],
      sandbox: 'bwrap',
      gates: { design: 'human', dag: 'human', review: 'human' },
      review: 'none',
    });
  });

  it('fills in what a file leaves out', async () => {
    writeFileSync(
      configPath(dir),
      '{ "checks": [{ "name": "test", "argv": ["npm", "test"] }], "gates": {} }',
    );
    expect((await readConfig(dir)).config).toMatchObject({
      checks: [{ name: 'test', dir: '.', argv: ['npm', 'test'], timeoutMs: 120_000 }],
      gates: { design: 'human', dag: 'human' },
    });
  });

  it('hashes what it parses', async () => {
    expect((await readConfig(dir)).sha256).toBeNull();
    const text = '{ "review": "task" }';
    writeFileSync(configPath(dir), text);
    const sha256 = createHash('sha256').update(text).digest('hex');
    expect(await readConfig(dir)).toMatchObject({ sha256, config: { review: 'task' } });
  });

  it('does not wait at a pipe of its name', async () => {
    execFileSync('mkfifo', [configPath(dir)]);
    await expect(readConfig(dir)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it.each([
    ['{', /JSON/],
    ['[]', /expected object/],
    ['{ "check": [] }', /Unrecognized key: "check"/],
    ['{ "gates": { "design": "agent" } }', /gates\.design/],
    ['{ "checks": [{ "name": "t", "argv": [] }] }', /checks\[0\]\.argv/],
    ['{ "checks": [{ "name": "t", "argv": ["t"], "dir": "../.." }] }', /checks\[0\]\.dir/],
  ])('names what is wrong with %s', async (text, words) => {
    writeFileSync(configPath(dir), text);
    await expect(readConfig(dir)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(words),
    });
  });

  it('does not pass over a file it cannot read', async () => {
    mkdirSync(configPath(dir));
    await expect(readConfig(dir)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

describe('configuration that comes with a repository', () => {
  const loose = JSON.stringify({ sandbox: 'none', gates: { design: 'auto', dag: 'auto' }, checks: [] });

  it.each([
    ['devs.config.json', loose],
    ['devs.config.js', `export default ${loose};`],
    ['.devsrc', loose],
    ['.devsrc.json', loose],
    ['.config/devs.json', loose],
    ['package.json', `{ "devs": ${loose} }`],
    ['.env', 'DEVS_SANDBOX=none\nDEVS_GATES=auto\nDEVS_YES=1\n'],
    ['.devs/.env', 'DEVS_SANDBOX=none\n'],
    ['.devs/config.local.json', loose],
    ['config.json', loose],
    ['packages/api/.devs/config.json', loose],
    ['.devs-work/sum/.devs/config.json', loose],
  ])('has no effect: %s', async (name, text) => {
    const before = await readConfig(dir);
    const file = path.join(dir, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    expect(await readConfig(dir)).toEqual(before);
  });
});
