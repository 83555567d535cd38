/** `guardNode` and `invokeGuarded`: every node between the two turns of its journal, Thought and Action, and its guards. */
export * from '../engine/node/runNode.ts';
