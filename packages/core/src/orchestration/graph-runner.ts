export * from '../engine/node/runNode.ts';
