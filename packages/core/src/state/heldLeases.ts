import type { FencedLease } from './Fence.ts';

// By identity: whoever reads the file knows the epoch of a lease, and no copy of it is the lease.
const held = new WeakSet<FencedLease>();

/** Makes a lease one that this process holds. */
export function holdingLease<L extends FencedLease>(lease: L): L {
  held.add(Object.freeze(lease));
  return lease;
}

/** The lease was given back: it is nobody's, also where a reference to it is left. */
export function endLease(lease: FencedLease): void {
  held.delete(lease);
}

/** Whether this is the very lease that was claimed in this process, and not given back. */
export function isHeld(lease: FencedLease): boolean {
  return held.has(lease);
}

/** That lease, where `value` is it; `null` for anything else. */
export function heldLease(value: unknown): FencedLease | null {
  return typeof value === 'object' && value !== null && held.has(value as FencedLease)
    ? (value as FencedLease)
    : null;
}
