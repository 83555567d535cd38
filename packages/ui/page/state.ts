import { effect, signal } from '@preact/signals';
import type { ErrorView } from '../src/http/errors.ts';
import type { ShownGateView } from '../src/views/gateView.ts';
import type { InboxView, RunsView, WaitingView } from '../src/views/inboxView.ts';
import type { ShownRunView } from '../src/views/runView.ts';
import { ApiError, gatePath, get, readChanges, runPath } from './api.ts';
import { type PageRoute, parseRoute } from './place.ts';

const place = signal<PageRoute>({ kind: 'inbox' });

export function followAddress(): void {
  const read = (): void => {
    place.value = parseRoute(location.hash);
    scrollTo(0, 0);
  };
  addEventListener('hashchange', read);
  read();
}

/** Between two attempts to reach the server again, ms. */
const AGAIN_MS = 1_000;

export interface Me {
  readonly by: { readonly id: string };
  readonly isReadOnly: boolean;
  /** Whether the page may execute runs, and start them. */
  readonly canDrive: boolean;
  readonly canStart: boolean;
  /** The name of the project; `null` without a folder. */
  readonly project: string | null;
}

/** What is shown, each with the place it is of: an answer that comes late for another one is dropped. */
export type ScreenState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'inbox'; readonly view: InboxView }
  | { readonly kind: 'waiting'; readonly view: WaitingView }
  | { readonly kind: 'runs'; readonly view: RunsView }
  | { readonly kind: 'run'; readonly view: ShownRunView }
  | { readonly kind: 'gate'; readonly view: ShownGateView }
  | { readonly kind: 'error'; readonly error: ErrorView };

export const screen = signal<ScreenState>({ kind: 'loading' });
export const me = signal<Me | null>(null);
/** Open gates of all runs; in the title and on the icon. */
export const waitingCount = signal(0);
/** Runs that a process drives. */
export const runningCount = signal(0);
/** Why what is shown may be old; `null` while the server tells what is new. */
export const offline = signal<ErrorView | null>(null);

let loading: Promise<void> | null = null;
let isStale = false;

/**
 * Reads what the place shows; the screen before stays until it is there. One at a time: however often it is asked meanwhile,
 * it is read once more.
 */
export function load(): Promise<void> {
  isStale = true;
  loading ??= loadAll().finally(() => {
    loading = null;
  });
  return loading;
}

async function loadAll(): Promise<void> {
  while (isStale) {
    isStale = false;
    const at = place.value;
    const next = await loadScreen(at).catch(
      (error: unknown): ScreenState => ({ kind: 'error', error: toErrorView(error) }),
    );
    if (at === place.value) screen.value = next;
  }
}

async function loadScreen(at: PageRoute): Promise<ScreenState> {
  if (at.kind === 'inbox') return { kind: 'inbox', view: noteTotal(await get<InboxView>('api/inbox')) };
  if (at.kind === 'waiting') {
    const view = await get<WaitingView>(`api/gates?after=${encodeURIComponent(at.after)}`);
    return { kind: 'waiting', view: noteTotal(view) };
  }
  noteTotal(await get<Counts>('api/waiting'));
  if (at.kind === 'runs') {
    return { kind: 'runs', view: await get<RunsView>(`api/runs?after=${encodeURIComponent(at.after)}`) };
  }
  if (at.kind === 'run') return { kind: 'run', view: await get<ShownRunView>(runPath(at.run)) };
  const path = gatePath({ threadId: at.run, sessionId: at.gate });
  return { kind: 'gate', view: await get<ShownGateView>(path) };
}

type Counts = Pick<WaitingView, 'total' | 'running'>;

function noteTotal<View extends Counts>(view: View): View {
  waitingCount.value = view.total;
  runningCount.value = view.running;
  return view;
}

export const toErrorView = (error: unknown): ErrorView =>
  error instanceof ApiError
    ? error.view
    : { code: 'INTERNAL', message: String(error), remedy: 'Reload the page. If the error stays, report it.' };

/** Follows the address and the server, for as long as the page is open. */
export async function follow(): Promise<void> {
  effect(() => {
    if (place.value) void load();
  });
  for (;;) {
    const wasOff = offline.value !== null;
    await readChanges(() => {
      offline.value = null;
      void load();
    }).catch((error: unknown) => {
      offline.value = toErrorView(error);
    });
    if (!wasOff && offline.value === null) continue;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
