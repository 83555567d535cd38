import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CommandChecks, type CommandChecksOptions } from '../../checks/CommandChecks.ts';
import { findNetworkSettings, withNetworkSettings, withNetworkWay } from '../networkSettings.ts';
import { type Scratch, withScratch } from '../scratch.ts';

/** As npm writes a variable into its file. */
const LOGIN = `//npm.example/:_authToken=\${COMPANY_TOKEN}\n`;

let base: string;

const SETTING = /^npm_config_|proxy$|cert|_CA|^NPM_|^YARN_|^BUN_|^PIP_|^UV_|^GO/i;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'devs-network-'));
  mkdirSync(join(base, 'home'));
  vi.stubEnv('HOME', join(base, 'home'));
  // This machine's own settings, and what a package manager hands to the scripts that it runs.
  for (const name of Object.keys(process.env)) if (SETTING.test(name)) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(base, { recursive: true, force: true });
});

const inHome = (file: string, text: string): void => writeFileSync(join(base, 'home', file), text);
const given = (work: (scratch: Scratch) => Promise<Readonly<Record<string, string>>>) =>
  withScratch('devs-network-', async (scratch) => {
    const variables = await work(scratch);
    const texts = Object.entries(variables).map(([name, value]) => [name, value, textOf(value)] as const);
    return { variables, texts, npmrc: textOf(join(scratch.home, '.npmrc')) };
  });

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

test('a registry, its login, its certificate and a proxy are found where people keep them, and handed over', async () => {
  inHome('company.pem', 'CERTIFICATE');
  inHome('.npmrc', `registry=https://npm.example/\n${LOGIN}cafile = ~/company.pem\n`);
  vi.stubEnv('COMPANY_TOKEN', 'planted-for-the-registry');
  vi.stubEnv('UNRELATED', 'planted-for-nobody');
  vi.stubEnv('HTTPS_PROXY', 'http://proxy.example:3128');
  vi.stubEnv('NODE_EXTRA_CA_CERTS', join(base, 'home', 'company.pem'));

  const found = await findNetworkSettings();
  expect(found.files).toEqual(['.npmrc']);
  expect(found.variables).toEqual(
    expect.arrayContaining(['HTTPS_PROXY', 'NODE_EXTRA_CA_CERTS', 'COMPANY_TOKEN']),
  );

  const { variables, texts, npmrc } = await given(withNetworkSettings);
  expect(npmrc).toContain('npm.example');
  expect(variables).toMatchObject({
    HTTPS_PROXY: 'http://proxy.example:3128',
    COMPANY_TOKEN: 'planted-for-the-registry',
  });
  expect(variables).not.toHaveProperty('UNRELATED');
  // Copies: a sandbox does not show where they lie.
  for (const name of ['NODE_EXTRA_CA_CERTS', 'npm_config_cafile']) {
    const [, path, text] = texts.find(([each]) => each === name) ?? [];
    expect(path).not.toContain(join(base, 'home'));
    expect(text).toBe('CERTIFICATE');
  }
});

test('the way alone has no registry and no login', async () => {
  inHome('.npmrc', LOGIN);
  vi.stubEnv('COMPANY_TOKEN', 'planted-for-the-registry');
  vi.stubEnv('HTTPS_PROXY', 'http://proxy.example:3128');
  const { variables, npmrc } = await given(withNetworkWay);
  expect(variables).toMatchObject({ HTTPS_PROXY: 'http://proxy.example:3128' });
  expect(variables).not.toHaveProperty('COMPANY_TOKEN');
  expect(npmrc).toBeNull();
});

test('a certificate that is not there keeps its name, for the program to tell', async () => {
  vi.stubEnv('NODE_EXTRA_CA_CERTS', '/nowhere/ca.pem');
  expect((await given(withNetworkWay)).variables).toMatchObject({ NODE_EXTRA_CA_CERTS: '/nowhere/ca.pem' });
});

test('a command gets what is named for it, over what every command gets, and nothing else', async () => {
  inHome('.npmrc', 'registry=https://npm.example/\n');
  vi.stubEnv('PLANTED', 'for-nobody');
  const script = `
    const { CI, NO_COLOR, PLANTED, WORD, HOME } = process.env;
    const npmrc = require('node:fs').existsSync(HOME + '/.npmrc');
    console.log(JSON.stringify({ CI, NO_COLOR, PLANTED, WORD, npmrc, home: HOME === '/other' }));
  `;
  const told = async (options: CommandChecksOptions): Promise<unknown> => {
    const checks = new CommandChecks({ argv: [process.execPath, '-e', script], ...options });
    return JSON.parse((await checks.run({ dir: base, signal: new AbortController().signal })).output);
  };
  expect(await told({})).toEqual({ CI: '1', NO_COLOR: '1', npmrc: false, home: false });
  const variables = { CI: 'true', WORD: 'given', HOME: '/other', NO_COLOR: '' };
  expect(await told({ variables, networkSettings: true })).toEqual({
    CI: 'true',
    NO_COLOR: '',
    WORD: 'given',
    npmrc: true,
    home: false,
  });
});
