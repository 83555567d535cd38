import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { RunView } from '../../src/views/runView.ts';
import { formatDuration } from '../words.ts';

/** How long something has taken by now. It is not announced: it changes every second. */
export function Clock({ since }: { readonly since: string }) {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = Date.now();
    }, 1_000);
    return () => clearInterval(timer);
  }, []);
  return <time class="q2 nw">{formatDuration(Math.max(0, now.value - Date.parse(since)))}</time>;
}

/** The current work of the run, and its time. */
export function Now({ run: { running } }: { readonly run: Pick<RunView, 'running'> }) {
  if (running === null) return <>between two steps</>;
  const { task, node, step, since } = running;
  const where = [task, node, step].filter((part) => part !== null).join(', ');
  return (
    <>
      {where}, for <Clock since={since} />
    </>
  );
}
