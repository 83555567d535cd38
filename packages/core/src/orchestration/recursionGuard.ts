export * from '../engine/guards/recursionGuard.ts';
