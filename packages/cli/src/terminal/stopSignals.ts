import { EXIT } from '../exitCodes.ts';

type SignalSource = Pick<NodeJS.Process, 'on' | 'exit'>;

/** How long calls in flight have to end after a second signal, ms. */
const GRACE_MS = 3_000;

export interface StopSignals {
  /** Aborted by the first signal: stop at the next safe point. */
  readonly signal: AbortSignal;
  /** Aborted by the second one: end what is in flight, with its processes, and leave. */
  readonly abort: AbortSignal;
}

/** Turns Ctrl-C and SIGTERM into requests to stop; a call that does not end in time is left behind. */
export function stopSignals(process: SignalSource): StopSignals {
  const drain = new AbortController();
  const abort = new AbortController();
  const onSignal = (): void => {
    if (!drain.signal.aborted) {
      drain.abort();
      return;
    }
    if (abort.signal.aborted) process.exit(EXIT.interrupted);
    abort.abort();
    setTimeout(() => process.exit(EXIT.interrupted), GRACE_MS).unref();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  // The terminal is gone, and with it whoever could send a second signal.
  process.on('SIGHUP', () => {
    drain.abort();
    onSignal();
  });
  return { signal: drain.signal, abort: abort.signal };
}
