import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Orchestrator } from '@devs/core';

/** A repository with a run that waits at the gate of its plan, as a person finds it who comes to decide. */
export interface WaitingProject {
  readonly dir: string;
  readonly run: string;
  readonly gate: string;
  readonly hash: string;
  /** The same, once for who decides it. */
  readonly copy: () => string;
  /** A new folder with nothing in it. */
  readonly empty: () => string;
  readonly remove: () => void;
}

const BRIEF = '# CSV export\n\nExport the table as CSV.\n';
const ADA = { kind: 'human', id: 'ada' } as const;

export async function waitingProject(): Promise<WaitingProject> {
  const home = mkdtempSync(join(tmpdir(), 'devs-start-'));
  const dir = join(home, 'project');
  execFileSync('git', ['init', '--quiet', dir]);
  const devs = await Orchestrator.open({ dir: join(dir, '.devs') });
  const run = await devs.start({ id: 'csv-export', brief: BRIEF, agentsRef: '{"agents":"none"}' });
  const { gates } = await run.resume();
  for (const gate of gates) await run.decide(gate, { approved: true, by: ADA });
  const [plan] = (await run.resume()).gates;
  devs.close();
  if (plan === undefined) throw new Error('The run waits at no gate.');
  let copies = 0;
  return {
    dir,
    run: run.id,
    gate: plan.sessionId,
    hash: plan.artifactHash,
    copy: () => {
      copies += 1;
      const to = join(home, `copy-${copies}`);
      cpSync(dir, to, { recursive: true });
      return to;
    },
    empty: () => mkdtempSync(join(home, 'empty-')),
    remove: () => rmSync(home, { recursive: true }),
  };
}
