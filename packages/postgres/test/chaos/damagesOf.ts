import { doctor } from '@devs/core/state';
import type { PostgresRuns } from '../../src/PostgresRuns.ts';
import type { Ended } from './judge.ts';
import type { LifeApp } from './life.ts';

/** What runs have in the end, and what `doctor` finds wrong with their files. */
export async function damagesOf(
  runs: PostgresRuns,
  app: LifeApp,
  ids: readonly string[],
): Promise<{ readonly ended: readonly Ended[]; readonly violations: readonly string[] }> {
  const ended: Ended[] = [];
  const violations: string[] = [];
  for (const id of ids) {
    const { status, values } = await app.result(id);
    ended.push({ run: id, status, calls: values?.calls ?? [] });
    const looked = await runs.open(id);
    const { ok, findings } = doctor(looked.db);
    looked.close();
    if (!ok) violations.push(`${id}: ${JSON.stringify(findings)}`);
  }
  return { ended, violations };
}
