import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { stateFoldersOf, workspaceName, workspaceNames } from '../threads/RunFolders.ts';

describe('a folder', () => {
  test.for([
    ['/p/.devs-work/csv', '../.devs-work/csv'],
    ['/p/.devs/runs/csv', 'runs/csv'],
    ['/p/.devs', '.'],
    ['/p', '..'],
    ['/p/..hidden', '../..hidden'],
    ['/q/csv', '/q/csv'],
    ['/', '/'],
  ] as const)('%s is called %s', ([folder, name]) => {
    expect(workspaceName(folder, '/p/.devs')).toBe(name);
  });

  test('has every name that either path of the state folder gives it', () => {
    const all = ['../w/csv', '/real/w/csv', '/link/w/csv'];
    for (const name of all) {
      expect([...workspaceNames(name, ['/link/.devs', '/real/.devs'])].sort()).toEqual([...all].sort());
    }
  });

  test('has the name it was given where there is no state folder', () => {
    expect(workspaceNames('../w', [])).toEqual(['../w']);
  });
});

test('a database in memory lies in no folder', () => {
  const db = createDatabase({ dbPath: ':memory:' });
  expect(stateFoldersOf(db)).toEqual([]);
  db.close();
});
