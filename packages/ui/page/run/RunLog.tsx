import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ErrorView } from '../../src/http/errors.ts';
import type { LogKind, LogView } from '../../src/views/logView.ts';
import type { RunView } from '../../src/views/runView.ts';
import { get, runPath } from '../api.ts';
import { Problem } from '../parts.tsx';
import { toErrorView } from '../state.ts';
import { formatTime, humanizeName, taskTag } from '../words.ts';
import { mergedLog } from './mergedLog.ts';

const KINDS: Readonly<Record<LogKind | '', string>> = {
  '': 'everything',
  people: 'decisions and questions',
  guards: 'guards and retries',
  tasks: 'tasks',
  work: 'nodes and steps',
};

/** What of the log is wanted; empty where it does not matter. */
interface Wanted {
  readonly kind: string;
  readonly task: string;
  readonly text: string;
}

/** The end of the log, and as much before it as is asked for. */
export function RunLog({ run }: { readonly run: RunView }) {
  const wanted = useSignal<Wanted>({ kind: '', task: '', text: '' });
  const { shown, error, readEarlier } = useLog(run, wanted.value);
  return (
    <section class="panel log-panel" aria-label="Log">
      <header>
        <h2>Log</h2>
        <span class="grow" />
        <Filters run={run} wanted={wanted} />
      </header>
      {error.value !== null && <Problem error={error.value} />}
      {shown.value !== null && shown.value.earlier !== null && (
        <button type="button" class="btn quiet sm" onClick={readEarlier}>
          Earlier events
        </button>
      )}
      <Lines shown={shown.value} />
    </section>
  );
}

function useLog(run: RunView, wanted: Wanted) {
  const shown = useSignal<LogView | null>(null);
  const error = useSignal<ErrorView | null>(null);
  const filters = String(new URLSearchParams(Object.entries(wanted).filter(([, value]) => value !== '')));
  const read = async (before: string, isWanted: () => boolean): Promise<void> => {
    const path = `${runPath(run.id)}/log?${filters}${before}`;
    const found = await get<LogView>(path).catch((failure: unknown) => toErrorView(failure));
    if (!isWanted()) return;
    error.value = 'entries' in found ? null : found;
    if ('entries' in found) shown.value = mergedLog(shown.value, found);
  };
  useEffect(() => {
    shown.value = null;
  }, [filters]);
  useEffect(() => {
    let isCurrent = true;
    void read('', () => isCurrent);
    return () => {
      isCurrent = false;
    };
  }, [run, filters]);
  const asked = useRef(filters);
  asked.current = filters;
  const readEarlier = (): void =>
    void read(`&before=${shown.value?.earlier ?? ''}`, () => asked.current === filters);
  return { shown, error, readEarlier };
}

function Filters({ run, wanted }: { readonly run: RunView; readonly wanted: Signal<Wanted> }) {
  const filter =
    (name: keyof Wanted) =>
    ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLSelectElement }): void => {
      wanted.value = { ...wanted.value, [name]: currentTarget.value };
    };
  const { kind, task, text } = wanted.value;
  return (
    <div class="filters">
      <select aria-label="Kind of events" value={kind} onChange={filter('kind')}>
        {Object.entries(KINDS).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
      <select aria-label="Task" value={task} onChange={filter('task')}>
        <option value="">all tasks</option>
        {run.tasks.map(({ label }) => (
          <option key={label} value={label}>
            {label}
          </option>
        ))}
      </select>
      <input
        type="search"
        aria-label="Filter the log"
        placeholder="words"
        value={text}
        onInput={filter('text')}
      />
    </div>
  );
}

function Lines({ shown }: { readonly shown: LogView | null }) {
  if (shown?.entries.length === 0) return <p class="q3 none">No events match.</p>;
  return (
    <ol class="log">
      {shown?.entries.map(({ seq, at, name, taskId, payload }) => (
        <li key={seq}>
          <time dateTime={at}>{formatTime(at)}</time>
          <span class="number">{taskId === null ? '' : taskTag(taskId)}</span>
          <span>{humanizeName(name)}</span>
          <span class="q2">{formatPayload(payload)}</span>
        </li>
      ))}
    </ol>
  );
}

const formatPayload = (payload: unknown): string =>
  typeof payload !== 'object' || payload === null
    ? ''
    : Object.entries(payload)
        .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(', ');
