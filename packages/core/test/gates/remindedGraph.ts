import { Annotation, START, StateGraph } from '@langchain/langgraph';

/** A graph with one node, `publish`. */
export const remindedGraph = () =>
  new StateGraph(Annotation.Root({ log: Annotation<string> }))
    .addNode('publish', () => ({ log: 'published' }))
    .addEdge(START, 'publish');
