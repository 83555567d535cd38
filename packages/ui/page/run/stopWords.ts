import type { RunView } from '../../src/views/runView.ts';
import type { Stop } from '../../src/views/stopView.ts';

interface StopWords {
  readonly label: string;
  /** Below the label. */
  readonly meaning: string;
  /** After "Asked". */
  readonly asked: string;
}

export const STOP_WORDS: Readonly<Record<Stop, StopWords>> = {
  pause: {
    label: 'Pause',
    meaning: 'calls in flight end first',
    asked: 'to pause at its next safe point',
  },
  abort: {
    label: 'Stop now',
    meaning: 'aborted calls are made again on resume',
    asked: 'to stop now',
  },
  cancel: { label: 'Cancel run', meaning: 'ends it for good', asked: 'to be cancelled' },
};

type Standing = Pick<RunView, 'status' | 'stopping'>;

const ENDS: Partial<Readonly<Record<RunView['status'], string>>> = {
  completed: 'completed',
  failed: 'failed',
  dead_letter: 'became a dead letter',
};

/** The result of a request of this person; `null` until the run has followed it. */
export function formatStopResult(asked: Stop, { status, stopping }: Standing): string | null {
  if (status === 'cancelled') {
    return asked === 'cancel' ? 'The run is cancelled.' : 'The run was cancelled before it paused.';
  }
  const end = ENDS[status];
  if (end !== undefined)
    return `The run ${end} before it ${asked === 'cancel' ? 'was cancelled' : 'paused'}.`;
  if (asked === 'cancel' || stopping !== null) return null;
  if (status === 'paused') return 'The run is paused. It goes on when somebody resumes it.';
  return status === 'waiting' ? 'The run came to a gate before it paused.' : null;
}
