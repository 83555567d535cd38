import { type Signal, useSignal } from '@preact/signals';
import type {
  InboxView,
  RunLine,
  RunsView,
  TaskProgress,
  WaitingLine,
  WaitingView,
} from '../src/views/inboxView.ts';
import { GoOn } from './GoOn.tsx';
import { Icon, type IconName, isTrouble, kindIcon } from './icons.tsx';
import { NewRun } from './NewRun.tsx';
import { Ago, FactWords, LineShare, Status } from './parts.tsx';
import { gateHref, inboxHref, olderRunsHref, runHref, waitingHref } from './place.ts';
import { Clock } from './run/Now.tsx';
import { me } from './state.ts';
import { formatAgo, formatCost, formatDollars, formatNumbered } from './words.ts';

export function Inbox({ view }: { readonly view: InboxView }) {
  return (
    <div class="inbox">
      <div class="col">
        <WaitingHead view={view} />
        {view.total === 0 ? <NothingWaits running={view.driven.length} /> : <Groups view={view} />}
      </div>
      <aside class="side" aria-label="Runs">
        <NewRun />
        <Driven runs={view.driven} />
        <Stopped runs={view.stopped} />
        <Newest view={view} />
      </aside>
      <p class="hints">
        <span>
          <kbd>j</kbd>
          <kbd>k</kbd> move
        </span>
        <span>
          <kbd>Enter</kbd> open
        </span>
        <span>
          <kbd>/</kbd> search
        </span>
        <span>
          <kbd>?</kbd> all keys
        </span>
      </p>
    </div>
  );
}

function WaitingHead({ view: { gates, total } }: { readonly view: WaitingView }) {
  const runs = new Set(gates.map(({ threadId }) => threadId)).size;
  const [oldest] = gates.map(({ openedAt }) => openedAt).toSorted();
  return (
    <div class="top">
      <h1 class="title">Waiting for you</h1>
      {total > 0 && (
        <p class="q2">
          {formatNumbered(total, 'decision')}
          {gates.length === total && ` in ${formatNumbered(runs, 'run')}`}.
          {oldest !== undefined && ` The oldest has waited ${waited(oldest)}.`}
        </p>
      )}
    </div>
  );
}

const waited = (since: string): string => {
  const ago = formatAgo(since);
  return ago === 'now' ? 'less than a minute' : ago;
};

const NothingWaits = ({ running }: { readonly running: number }) => (
  <section class="panel empty">
    <span class="kind ok">
      <Icon name="check" />
    </span>
    <h2>Nothing waits for you</h2>
    <p class="q2">
      {running > 0 && `${formatNumbered(running, 'run')} ${running === 1 ? 'is' : 'are'} working. `}
      This page updates by itself; the tab shows when something comes in.
    </p>
  </section>
);

/** Kinds that are looked for together. */
const SHOWN = {
  All: () => true,
  Code: ({ kind }: WaitingLine) => kind === 'review',
  Documents: ({ kind }: WaitingLine) => kind === 'design_approval' || kind === 'dag_approval',
  Trouble: ({ kind }: WaitingLine) => isTrouble(kind),
} as const;

type Shown = keyof typeof SHOWN;

/** Orders of the rows; groups stand where their first row does. */
const SORTS = {
  'Oldest first': (a: WaitingLine, b: WaitingLine) => a.openedAt.localeCompare(b.openedAt),
  'Newest first': (a: WaitingLine, b: WaitingLine) => b.openedAt.localeCompare(a.openedAt),
  'Largest first': (a: WaitingLine, b: WaitingLine) => linesOf(b) - linesOf(a),
  'Costliest run first': (a: WaitingLine, b: WaitingLine) => b.cost.costUsd - a.cost.costUsd,
} as const;

type Sort = keyof typeof SORTS;

const linesOf = ({ size }: WaitingLine): number =>
  typeof size === 'object' && size !== null ? size.added + size.removed : 0;

/** Open gates by run, with search and filter. */
function Groups({ view: { gates, total, nextGates } }: { readonly view: WaitingView }) {
  const shown = useSignal<Shown>('All');
  const words = useSignal('');
  const sort = useSignal<Sort>('Oldest first');
  const found = gates
    .filter((gate) => SHOWN[shown.value](gate) && isFound(gate, words.value))
    .toSorted(SORTS[sort.value]);
  return (
    <>
      <Tools gates={gates} shown={shown} words={words} sort={sort} />
      {found.length === 0 && <p class="q3">Nothing of this waits.</p>}
      {groupedByRun(found).map((group) => (
        <Group key={group[0]?.threadId} gates={group} />
      ))}
      {nextGates !== null && (
        <a class="btn more" href={waitingHref(nextGates)}>
          {gates.length} of {total}, oldest first: show more
        </a>
      )}
    </>
  );
}

interface ToolsOf {
  readonly gates: readonly WaitingLine[];
  readonly shown: Signal<Shown>;
  readonly words: Signal<string>;
  readonly sort: Signal<Sort>;
}

function Tools({ gates, shown, words, sort }: ToolsOf) {
  return (
    <div class="tools">
      <label class="field search">
        <Icon name="search" />
        <span class="vh">Search</span>
        <input
          type="search"
          placeholder="Search runs, tasks, documents"
          value={words}
          onInput={({ currentTarget }) => {
            words.value = currentTarget.value;
          }}
        />
        <kbd class="hide-s">/</kbd>
      </label>
      <fieldset class="seg" aria-label="Show">
        {(Object.keys(SHOWN) as Shown[]).map((name) => (
          <label key={name}>
            <input
              class="vh"
              type="radio"
              name="shown"
              checked={shown.value === name}
              onChange={() => {
                shown.value = name;
              }}
            />
            {name} <span class="n">{gates.filter(SHOWN[name]).length}</span>
          </label>
        ))}
      </fieldset>
      <Order sort={sort} />
    </div>
  );
}

function Order({ sort }: Pick<ToolsOf, 'sort'>) {
  return (
    <select
      aria-label="Order"
      class="sort"
      value={sort}
      onChange={({ currentTarget }) => {
        sort.value = currentTarget.value as Sort;
      }}
    >
      {Object.keys(SORTS).map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

const isFound = ({ threadId, title, about, asks, message }: WaitingLine, words: string): boolean =>
  [threadId, title, about, asks, message].join(' ').toLowerCase().includes(words.trim().toLowerCase());

/** In the order of the first gate of each. */
export function groupedByRun(gates: readonly WaitingLine[]): readonly (readonly WaitingLine[])[] {
  const groups = new Map<string, WaitingLine[]>();
  for (const gate of gates) groups.set(gate.threadId, [...(groups.get(gate.threadId) ?? []), gate]);
  return [...groups.values()];
}

function Group({ gates }: { readonly gates: readonly WaitingLine[] }) {
  const [first] = gates;
  if (first === undefined) return null;
  const { threadId, title, cost, limitUsd, tasks } = first;
  const done = tasks.filter((task) => task === 'done').length;
  return (
    <section class="panel group" aria-label={title}>
      <header>
        <span class="repo" title={`run ${threadId}`}>
          <Icon name="folder" />
          {me.value?.project ?? threadId}
        </span>
        <a class="run-name" href={runHref(threadId)}>
          {title}
        </a>
        <span class="grow" />
        {tasks.length > 0 && (
          <>
            <Steps tasks={tasks} />
            <span class="q3 nw hide-s">
              {done} of {formatNumbered(tasks.length, 'task')}
            </span>
          </>
        )}
        <span class="cost">
          {formatCost(cost) || (limitUsd !== null && formatDollars(0))}{' '}
          {limitUsd !== null && <span>of {formatDollars(limitUsd)}</span>}
        </span>
      </header>
      <ul>
        {gates.map((gate) => (
          <GateRow key={gate.sessionId} gate={gate} />
        ))}
      </ul>
    </section>
  );
}

/** Larger numbers of tasks are shown as words only. */
const MOST_STEPS = 12;

const STEP_CLASSES: Readonly<Record<TaskProgress, string>> = {
  done: 'done',
  now: 'now',
  asks: 'ask',
  failed: 'bad',
  'to come': '',
};

const Steps = ({ tasks }: { readonly tasks: readonly TaskProgress[] }) =>
  tasks.length > MOST_STEPS ? null : (
    <span class="steps hide-s" aria-hidden="true">
      {tasks.map((task, at) => (
        <i key={at} class={STEP_CLASSES[task]} />
      ))}
    </span>
  );

function GateRow({ gate }: { readonly gate: WaitingLine }) {
  const { kind, about, asks, facts, size, openedAt, threadId, sessionId } = gate;
  const isBad = kind === 'task_failure' || kind === 'baseline' || kind === 'recursion_limit';
  return (
    <li>
      <a class="item" href={gateHref(threadId, sessionId)}>
        <span class={`kind ${isBad ? 'bad' : ''}`}>
          <Icon name={kindIcon(kind)} />
        </span>
        <span class="item-main">
          <span class="item-title">
            <span class={`what ${isBad ? 'bad' : ''}`}>{about}</span> <b>{asks}</b>
          </span>
          <FactWords facts={facts} />
        </span>
        <span class="item-size">{typeof size === 'object' ? size && <LineShare {...size} /> : size}</span>
        <span class="item-age">
          <Ago at={openedAt} />
        </span>
      </a>
    </li>
  );
}

/** Runs that a process executes now. */
function Driven({ runs }: { readonly runs: readonly RunLine[] }) {
  if (runs.length === 0) return null;
  return (
    <section>
      <h2 class="h2 side-h">
        <span class="livedot">Running now</span> <span class="q3">{runs.length}</span>
      </h2>
      <ul class="panel cards-list">
        {runs.map((run) => (
          <li key={run.id}>
            <a class="run-card" href={runHref(run.id)}>
              <span class="row">
                <b class="grow">{run.title}</b>
                <span class="q3 cost">{formatCost(run.cost)}</span>
              </span>
              <span class="q2">
                {run.id}
                {run.tasks.total > 0 &&
                  `, ${run.tasks.completed} of ${formatNumbered(run.tasks.total, 'task')}`}
              </span>
              {run.running !== null && (
                <span class="live-line">
                  <span class="chip live">{run.running.step ?? run.running.node}</span>
                  <span class="grow q2">{run.running.task ?? ''}</span>
                  <Clock since={run.running.since} />
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Stopped({ runs }: { readonly runs: readonly RunLine[] }) {
  if (runs.length === 0) return null;
  return (
    <section>
      <h2 class="h2 side-h">
        Stopped <span class="q3">{runs.length}</span>
      </h2>
      <ul class="panel cards-list">
        {runs.map((run) => (
          <li key={run.id}>
            <div class="run-card">
              <a class="row item" href={runHref(run.id)}>
                <b class="grow">{run.title}</b>
                <span class="q3">
                  <Ago at={run.updatedAt} />
                </span>
              </a>
              <span class="q2">{whyStopped(run)}</span>
              {run.status !== 'dead_letter' && (
                <GoOn run={run.id} label={run.status === 'waiting' ? 'Go on' : 'Resume'} />
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The recorded reason; a driver that died could not record one. */
const whyStopped = ({ status, reason }: RunLine): string =>
  reason ??
  (status === 'running'
    ? 'Its process has ended. Nothing is lost; it goes on where it was.'
    : status === 'waiting'
      ? 'What was asked is decided. No process drives the run.'
      : '');

function Newest({ view }: { readonly view: RunsView }) {
  return (
    <section>
      <h2 class="h2 side-h">Newest runs</h2>
      {view.runs.length === 0 ? <p class="q3">There are no runs yet.</p> : <RunPage view={view} />}
    </section>
  );
}

/** A later page of the gates that wait. */
export function Waiting({ view }: { readonly view: WaitingView }) {
  return (
    <div class="inbox alone">
      <div class="col">
        <WaitingHead view={view} />
        <Groups view={view} />
        <ToInbox />
      </div>
    </div>
  );
}

/** A later page of the runs. */
export function Runs({ view }: { readonly view: RunsView }) {
  return (
    <div class="inbox alone">
      <div class="col">
        <h1 class="title">Older runs</h1>
        <RunPage view={view} />
        <ToInbox />
      </div>
    </div>
  );
}

const ToInbox = () => (
  <p>
    <a class="btn quiet" href={inboxHref}>
      <Icon name="inbox" />
      Inbox
    </a>
  </p>
);

function RunPage({ view: { runs, nextRuns } }: { readonly view: RunsView }) {
  return (
    <>
      <ul class="panel fin">
        {runs.map((run) => (
          <RunRow key={run.id} run={run} />
        ))}
      </ul>
      {nextRuns !== null && (
        <a class="btn more" href={olderRunsHref(nextRuns)}>
          Older runs
        </a>
      )}
    </>
  );
}

const ENDS: Readonly<Record<string, readonly [IconName, string]>> = {
  completed: ['check', 'ok'],
  failed: ['cross', 'bad'],
  dead_letter: ['cross', 'bad'],
  cancelled: ['cross', 'q3'],
  waiting: ['clock', 'wait'],
  running: ['play', 'q3'],
};

function RunRow({ run: { id, title, status, cost, updatedAt } }: { readonly run: RunLine }) {
  const [icon, tone] = ENDS[status] ?? (['pause', 'q3'] as const);
  return (
    <li>
      <a class="item" href={runHref(id)}>
        <Icon name={icon} tone={tone} />
        <span class="grow">
          {title} <Status value={status} />
        </span>
        <span class="q3 nw">{formatCost(cost)}</span>
        <span class="q3 nw">
          <Ago at={updatedAt} />
        </span>
      </a>
    </li>
  );
}
