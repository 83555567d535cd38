import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { startReference } from '../support/startReference.ts';
import { compare } from './compare.ts';
import { sequence } from './Op.ts';

test('scratch', { timeout: 280_000 }, async ({ served }) => {
  const ref = await startReference(mkdtempSync(join(tmpdir(), 'S4-')), { workers: 20 });
  let n = 0;
  const t = Date.now();
  const found = new Map<string, any>();
  try {
    await Promise.all(fc.sample(sequence, 40).map(async (ops) => {
      const got = await compare(served.url, ref.url, ops).catch((e) => { process.stderr.write(`THROWN ${e.stack}\n`); return { alike: 0, unexplained: null } as any; });
      n += got.alike;
      const u = got.unexplained;
      if (u) { const key = `${u.op.kind} asked=${u.before.isAsked} ran=${u.before.hasRun} ours=${u.own.status} theirs=${u.reference.status}`; if (!found.has(key)) found.set(key, [u, ops]); }
    }));
  } finally { process.stderr.write([...found].map(([k, [u, ops]]) => `## ${k}\n${JSON.stringify(u.op)}\n  own ${JSON.stringify(u.own).slice(0, 700)}\n  ref ${JSON.stringify(u.reference).slice(0, 700)}\n  after ${JSON.stringify(u.after).slice(0, 500)}\n  there ${JSON.stringify(u.afterThere).slice(0,500)}\n  ops ${JSON.stringify(ops).slice(0,500)}\n`).join('')); process.stderr.write(`${n} alike ${Date.now() - t} ms\n`); await ref.stop(); }
});
