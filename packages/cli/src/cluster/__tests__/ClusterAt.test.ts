import { describe, expect, test } from 'vitest';
import { clusterAt } from '../ClusterAt.ts';
import { missingPackage } from '../loadPostgres.ts';

describe('clusterAt', () => {
  test('is none where nobody names one', () => {
    expect(clusterAt({}, {})).toBeNull();
    expect(clusterAt({}, { DEVS_DATABASE_URL: ' ' })).toBeNull();
    expect(clusterAt({ db: '' }, { DEVS_DATABASE_URL: 'postgres://h/db' })).toBeNull();
  });

  test('is that of the environment, which commands to copy need not name', () => {
    expect(clusterAt({}, { DEVS_DATABASE_URL: 'postgres://ada:pw@h/db' })).toEqual({
      url: 'postgres://ada:pw@h/db',
      schema: 'devs',
      shown: 'postgres://ada@h/db',
      words: [],
    });
  });

  test('is that of the command line first, which commands to copy name without its password', () => {
    const named = { db: 'postgresql://ada:pw@h:6432/db?password=pw&sslmode=require', schema: 'jobs' };
    expect(clusterAt(named, { DEVS_DATABASE_URL: 'postgres://other/db' })).toMatchObject({
      url: named.db,
      schema: 'jobs',
      words: ['--db', 'postgresql://ada@h:6432/db?sslmode=require', '--schema', 'jobs'],
    });
  });
});

describe('missingPackage', () => {
  test('names what an import did not find', () => {
    const error = Object.assign(new Error("Cannot find package '@devs/postgres' imported from /x.js"), {
      code: 'ERR_MODULE_NOT_FOUND',
    });
    expect(missingPackage(error)).toBe('@devs/postgres');
  });

  test('is of no other error', () => {
    expect(missingPackage(new Error('Cannot find package'))).toBeNull();
  });
});
