import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { RunView } from '../../src/views/runView.ts';
import { formatDuration } from '../words.ts';

/** What the run does at this moment, and for how long. */
export function Now({ run: { running, driver } }: { readonly run: RunView }) {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = Date.now();
    }, 1_000);
    return () => clearInterval(timer);
  }, []);
  if (running === null) return <>{driver === null ? 'not running' : 'between two steps'}</>;
  const { task, node, step, since } = running;
  const where = [task, node, step].filter((part) => part !== null).join(', ');
  return (
    <>
      {where}, for {formatDuration(Math.max(0, now.value - Date.parse(since)))}
    </>
  );
}
