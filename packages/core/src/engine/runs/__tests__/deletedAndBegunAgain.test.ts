import { driveMail, mailApp } from '@devs/conformance';
import { expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { FileRuns } from '../../remote/FileRuns.ts';

const ADA = { kind: 'human', id: 'ada' } as const;

test('a run that was deleted with its decisions can be begun again, and the file is opened then', async ({
  dbPath,
}) => {
  const db = createDatabase({ dbPath });
  const app = mailApp(new FileRuns(db), 'asks');
  await app.start('m', { log: [] });
  await driveMail(app, 'm');
  const [gate] = await app.gates('m');
  if (gate !== undefined) await app.decide(gate, { value: 'yes', by: ADA });
  await driveMail(app, 'm');
  await app.delete('m', { by: ADA });
  await app.start('m', { log: ['again'] });
  expect(await app.gates('m')).toEqual([]);
  db.close();
});
