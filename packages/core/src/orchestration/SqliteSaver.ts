/** `SqliteSaver`: LangGraph's checkpointer over one SQLite file, with the tables of checkpoints, their writes and blobs. */
export * from '../engine/saver/SqliteSaver.ts';
