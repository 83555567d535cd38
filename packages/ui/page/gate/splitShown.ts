import { signal } from '@preact/signals';

/** Of every diff on the page: what a person likes better does not change from file to file. */
export const isSplit = signal(false);
