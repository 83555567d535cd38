/** `checkRecursionDepth`: whether a run may go one node deeper, of the depth that its invocation carries. */
export * from '../engine/guards/recursionGuard.ts';
