/** `runGraphIteratively`: runs a graph and those it calls with `recurse` in one loop, a super-step per turn, on an explicit stack. */
export * from '../engine/frames/flatIterativeAdapter.ts';
