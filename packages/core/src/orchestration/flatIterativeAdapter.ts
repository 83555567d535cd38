export * from '../engine/frames/flatIterativeAdapter.ts';
