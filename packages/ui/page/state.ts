import { effect, signal } from '@preact/signals';
import type { ErrorView } from '../src/http/errors.ts';
import type { ShownGateView } from '../src/views/gateView.ts';
import type { InboxView, RunsView, WaitingView } from '../src/views/inboxView.ts';
import type { RunView } from '../src/views/runView.ts';
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
}

/** What is shown, each with the place it is of: an answer that comes late for another one is dropped. */
export type ScreenState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'inbox'; readonly view: InboxView }
  | { readonly kind: 'waiting'; readonly view: WaitingView }
  | { readonly kind: 'runs'; readonly view: RunsView }
  | { readonly kind: 'run'; readonly view: RunView }
  | { readonly kind: 'gate'; readonly view: ShownGateView }
  | { readonly kind: 'error'; readonly error: ErrorView };

export const screen = signal<ScreenState>({ kind: 'loading' });
export const me = signal<Me | null>(null);
/** Open gates of all runs; in the title. */
export const waitingCount = signal(0);
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
  noteTotal(await get<Pick<WaitingView, 'total'>>('api/waiting'));
  if (at.kind === 'runs') {
    return { kind: 'runs', view: await get<RunsView>(`api/runs?after=${encodeURIComponent(at.after)}`) };
  }
  if (at.kind === 'run') return { kind: 'run', view: await get<RunView>(runPath(at.run)) };
  const path = gatePath({ threadId: at.run, sessionId: at.gate });
  return { kind: 'gate', view: await get<ShownGateView>(path) };
}

function noteTotal<View extends Pick<WaitingView, 'total'>>(view: View): View {
  waitingCount.value = view.total;
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
