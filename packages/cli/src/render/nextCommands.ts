import type { RunStatus } from '@devs/core';
import type { Session } from '../project/Session.ts';
import { shortId } from './renderGate.ts';

type Standing = Pick<RunStatus, 'id' | 'status' | 'driver' | 'gates' | 'workspace'>;

/** What to type next, with what it does; never empty. */
export function nextCommands(run: Standing, devs: Session['devs']): readonly string[] {
  return stepsFrom(run, devs).map(([what, command]) => `${`${what}:`.padEnd(8)} ${command}`);
}

type NextStep = readonly [what: string, command: string];

function stepsFrom(
  { id, status, driver, gates, workspace }: Standing,
  devs: Session['devs'],
): readonly NextStep[] {
  const follow: NextStep = ['follow', devs('log', id)];
  const story: NextStep = ['story', devs('log', id)];
  const goOn: NextStep = ['go on', devs('resume', id)];
  switch (status) {
    case 'created':
    case 'running':
    case 'paused':
    case 'waiting':
      if (gates.length > 0) return gates.map((gate) => ['read it', devs('show', shortId(gate))]);
      return driver === null || status === 'waiting' || status === 'paused' ? [goOn] : [follow];
    case 'completed':
      return workspace === null ? [story] : [story, ['look', `git -C ${workspace} log --stat`]];
    case 'failed':
      return [story, ['again', devs('resume', id)]];
    case 'dead_letter':
      return [story, ['revive', devs('admin', 'revive', id)]];
    case 'cancelled':
      return [story];
  }
}
