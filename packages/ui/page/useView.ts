import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ErrorView } from '../src/http/errors.ts';
import { get } from './api.ts';
import { toErrorView } from './state.ts';

/** A part of a screen that is read by itself. */
export type Loaded<View> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'shown'; readonly view: View }
  | { readonly kind: 'error'; readonly error: ErrorView };

/**
 * Reads a path, and again whenever `version` is another one; what was there before stays until then. An answer that comes late
 * for another path is dropped.
 *
 * @param path - `null` to wait.
 */
export function useView<View>(path: string | null, version: unknown = null): Signal<Loaded<View>> {
  const loaded = useSignal<Loaded<View>>({ kind: 'loading' });
  useEffect(() => {
    if (path === null) return;
    let isWanted = true;
    const show = (next: Loaded<View>): void => {
      if (isWanted) loaded.value = next;
    };
    get<View>(path).then(
      (view) => show({ kind: 'shown', view }),
      (error: unknown) => show({ kind: 'error', error: toErrorView(error) }),
    );
    return () => {
      isWanted = false;
    };
  }, [path, version]);
  return loaded;
}
