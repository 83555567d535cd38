import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROUTES } from '../src/routes/routes.ts';

test('the docs tell every request that the page may make, and who may make it', () => {
  const docs = readFileSync(new URL('../../../docs/reference/page.md', import.meta.url), 'utf8');
  const [, table = ''] = /## Requests\n([\s\S]*?)\n## /.exec(docs) ?? [];
  const told = [...table.matchAll(/^\| `((?:GET|POST) \S+)` \| (open|read|decide) \| \S/gm)];
  expect(told.map(([, request, who]) => `${request} ${who}`).sort()).toEqual(
    ROUTES.map(({ method, path, access }) => `${method} ${path} ${access}`).sort(),
  );
});
