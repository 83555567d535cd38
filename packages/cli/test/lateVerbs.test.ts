import { describe, expect, test } from 'vitest';
import { callMain } from './support/callMain.ts';

/** Verbs whose modules are imported when their names are on the line. */
const LATE = [
  ...['init', 'run', 'ask', 'edit', 'approve', 'reject', 'resume', 'pr', 'rm', 'trust'],
  ...['answer', 'adopt', 'sync', 'rewind', 'chaos'],
  ...['migrate', 'push', 'pull', 'worker', 'queue', 'workers', 'tenants', 'redrive'],
];

describe('help', () => {
  test.each(['devs', 'admin'])('of %s lists every verb as the verb declares itself', async (name) => {
    const parent = name === 'admin' ? [name] : [];
    const { stdout: listed } = await callMain('/', [...parent, '--help']);
    const { stdout: declared } = await callMain('/', [...parent, '--help', ...LATE]);
    expect(listed).toContain('[options]');
    expect(listed).toBe(declared);
  });

  test.each(LATE)('of %s is its own', async (name) => {
    const { stdout } = await callMain('/', [name, '--help']);
    expect(stdout).toContain('Examples:');
    expect(await callMain('/', ['help', name])).toMatchObject({ stdout });
  });
});
