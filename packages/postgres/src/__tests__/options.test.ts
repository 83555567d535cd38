import { describe, expect, test } from 'vitest';
import { tried } from '../../../core/test/support/tried.ts';
import { ClusterAdmin } from '../ClusterAdmin.ts';
import { requireRetention, requireSchema, requireTenant, serverOf } from '../options.ts';
import { postgres } from '../postgres.ts';

const INVALID = expect.objectContaining({ code: 'CONFIG_INVALID' });
const LONG = 'a'.repeat(9000);
const URL_ = 'postgres://ada:secret@db.example.org:5432/devs';

/** Calls something, and gives what it throws. */
function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return null;
}

describe('an option that PostgreSQL would take for something else', () => {
  test.for([
    ['', 'a\0b', LONG, 'a"b', "a'b", 'a.b', 'a%sb', 'a$b', 'a\\b', 'a\nb', 'a\u200bb', 'pg_temp', 7, null],
  ])('schema', (schemas, { task }) => {
    tried(task, { ways: schemas.length });
    for (const schema of schemas) {
      expect(
        thrownBy(() => requireSchema(schema)),
        String(schema),
      ).toEqual(INVALID);
      expect(thrownBy(() => postgres({ url: URL_, schema: schema as string }))).toEqual(INVALID);
      expect(thrownBy(() => new ClusterAdmin({ url: URL_, schema: schema as string }))).toEqual(INVALID);
    }
  });

  test.for([
    ['', '30', 'd', '-1d', '1.5d', '0d', '999ms', '40000d', '30 d', '30D', 'P30D', 30, null, undefined],
  ])('retention', (times, { task }) => {
    tried(task, { ways: times.length });
    for (const ended of times as readonly string[])
      expect(
        thrownBy(() => postgres({ url: URL_, retention: { ended } })),
        String(ended),
      ).toEqual(expect.objectContaining({ name: 'RangeError' }));
    expect(requireRetention({ ended: '30d' })).toBe(30 * 86_400_000);
    expect(requireRetention({ ended: '90s' })).toBe(90_000);
  });

  test.for([['', ' a', 'a ', 'a\0b', LONG, 'a\nb', '\u202ea', 'a\u2028b', 7, null]])(
    'tenant',
    (tenants, { task }) => {
      tried(task, { ways: tenants.length });
      for (const tenant of tenants)
        expect(
          thrownBy(() => requireTenant(tenant)),
          String(tenant),
        ).toEqual(INVALID);
    },
  );

  test.for([
    [
      ...['', 'devs', 'http://db/devs', 'postgres:', `${URL_}/${LONG}`, `postgres://db/${'a'.repeat(64)}`],
      ...['postgres://db/a%00b', 'postgres://a%zz@db/devs', 'postgres://db/devs?user=a%00b', 7, null],
      ...[`${URL_}?host=/etc`, `${URL_}?host=other`, `${URL_}?port=1`, 'postgres:///devs?host=etc'],
      ...['postgres:///devs?host=/a&host=/b', `${URL_}?sslmode=none`, `${URL_}?sslmode=`],
      ...[`${URL_}?sslmode=verify-full&sslmode=disable`, `${URL_}?sslrootcert=/no/such/file`],
    ],
  ])('URL', (urls, { task }) => {
    tried(task, { ways: urls.length });
    for (const url of urls) {
      const error = thrownBy(() => postgres({ url: url as string }));
      expect(error, String(url).slice(0, 80)).toEqual(INVALID);
      expect(String(error), 'a password is not repeated').not.toContain('secret');
      expect(
        thrownBy(() => postgres({ url: URL_, directUrl: url as string })),
        String(url),
      ).toEqual(INVALID);
      expect(
        thrownBy(() => new ClusterAdmin({ url: url as string })),
        String(url),
      ).toEqual(INVALID);
    }
  });

  test('limits', () => {
    for (const maxFileBytes of [0, -1, Number.NaN, 1.5, 1_000_000_001])
      expect(() => postgres({ url: URL_, maxFileBytes })).toThrow(RangeError);
  });
});

test('what it can be is taken, and the server is told without user and password', () => {
  for (const schema of ['devs', 'Devs_2', 'über-devs', 'a'.repeat(58)])
    expect(requireSchema(schema)).toBe(schema);
  for (const tenant of ['acme', 'Acme & Söhne', 'a/b:c', 'a'.repeat(200)])
    expect(requireTenant(tenant)).toBe(tenant);
  expect(serverOf(`${URL_}?sslmode=verify-full`)).toBe('db.example.org:5432/devs');
  expect(serverOf('postgresql:///devs?host=/run/postgresql&port=5433')).toBe('/run/postgresql/devs');
});
