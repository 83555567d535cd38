export * from '../engine/saver/SqliteSaver.ts';
