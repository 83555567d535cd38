import { expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { useSeals } from '../rows/rows.ts';

test('a row has the check value that every release has given it', ({ db }) => {
  useSeals(db);
  const values = ['id-1', null, 'größer 😀', 1_785_000_000_000, Buffer.from([0, 255, 10]), 0.5];
  const sha256 = db
    .prepare('SELECT lower(hex(row_sha256_of(?, ?, ?, ?, ?, ?, ?, ?, ?)))')
    .pluck()
    .get(...values, '', Buffer.alloc(0), 'end');
  expect(sha256).toBe('37f858138c0f5766b87d6a035b9c3a389555184a04d03daabbb0053b75da20ba');
});
