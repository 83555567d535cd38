import { EXIT } from '../exitCodes.ts';

type SignalSource = Pick<NodeJS.Process, 'on' | 'exit'>;

/** How long calls in flight may go on after SIGTERM, ms: whoever sent it sends no second one, and kills within 10 s. */
const TERM_DRAIN_MS = 5_000;

/** How long calls in flight have to end once they are aborted, ms. */
const GRACE_MS = 3_000;

export interface StopSignals {
  /** Aborted by the first signal: stop at the next safe point. */
  readonly signal: AbortSignal;
  /** Aborted by the second one, and 5 s after SIGTERM: end what is in flight, with its processes, and leave. */
  readonly abort: AbortSignal;
  /** For who ends what is in flight in a time of their own: SIGTERM does not, then. */
  readonly drainsAlone: () => void;
}

/** Turns Ctrl-C and SIGTERM into requests to stop; a call that does not end in time is left behind. */
export function stopSignals(process: SignalSource): StopSignals {
  const drain = new AbortController();
  const abort = new AbortController();
  let termDrainMs: number | null = TERM_DRAIN_MS;
  const end = (): void => {
    if (abort.signal.aborted) process.exit(EXIT.interrupted);
    abort.abort();
    setTimeout(() => process.exit(EXIT.interrupted), GRACE_MS).unref();
  };
  const onSignal = (): void => (drain.signal.aborted ? end() : drain.abort());
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', () => {
    const isFirst = !drain.signal.aborted;
    onSignal();
    if (!isFirst || termDrainMs === null) return;
    const endOnce = (): void => (abort.signal.aborted ? undefined : end());
    setTimeout(endOnce, termDrainMs).unref();
  });
  // The terminal is gone, and with it whoever could send a second signal.
  process.on('SIGHUP', () => {
    drain.abort();
    end();
  });
  const drainsAlone = (): void => {
    termDrainMs = null;
  };
  return { signal: drain.signal, abort: abort.signal, drainsAlone };
}
