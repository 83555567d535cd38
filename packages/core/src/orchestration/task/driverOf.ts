import type { EngineStore } from '../../engine/EngineStore.ts';
import type { Driver } from '../ports.ts';

/** The holder of a lease, as the folder of its run knows it. */
export function driverOf(
  { threads }: Pick<EngineStore, 'threads'>,
  { epoch }: { readonly epoch: number },
): Driver {
  return { epoch, holder: threads.holder, isGone: (holder) => threads.isGone(holder) };
}
