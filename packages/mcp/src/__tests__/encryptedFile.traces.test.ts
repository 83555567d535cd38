import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Orchestrator } from '@devs/core';
import { expect, test } from 'vitest';
import { StateReader } from '../StateReader.ts';

test('an encrypted state file is read with the key of the environment, and not without', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'devs-mcp-'));
  const encryptionKey = 'the passphrase of the file';
  const devs = await Orchestrator.open({ dir, encryptionKey });
  await devs.start({ id: 'sum', brief: '# Sum\n' });
  devs.close();
  const idsWith = (env: Readonly<Record<string, string>>) =>
    new StateReader({ dir, env }).read(async (context) => (await context.devs.list()).map(({ id }) => id));
  expect(await idsWith({ DEVS_ENCRYPTION_KEY: encryptionKey })).toEqual(['sum']);
  await expect(idsWith({})).rejects.toMatchObject({ code: 'STATE_KEY_MISMATCH' });
  rmSync(dir, { recursive: true });
});
