import { signal } from '@preact/signals';

/** For every diff on the page. */
export const isSplit = signal(false);
