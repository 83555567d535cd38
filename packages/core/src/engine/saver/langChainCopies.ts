// LangChain's classes that values can be of. A CommonJS program has a copy of its own, beside the one of modules that the engine imports.

import { createRequire } from 'node:module';
import { Document } from '@langchain/core/documents';
import { load } from '@langchain/core/load';
import * as messages from '@langchain/core/messages';

interface LangChainCopy {
  readonly load: typeof load;
  readonly Document: typeof Document;
  /** Its exports: all classes of messages are among them. */
  readonly messages: ReadonlySet<unknown>;
}

/** Those of the graphs of this process. Values are loaded as instances of the last one. */
const copies: LangChainCopy[] = [{ load, Document, messages: new Set(Object.values(messages)) }];

const LANGGRAPH_OF_COMMONJS = /[\\/]@langchain[\\/]langgraph[\\/].*\.cjs$/;

/** Values are instances of the LangChain of this graph from now on, if a CommonJS module has made it. */
export function useLangChainOf(graph: object): void {
  const { cache } = createRequire(process.execPath);
  const file = Object.keys(cache).find(
    (name) => LANGGRAPH_OF_COMMONJS.test(name) && hasClassOf(graph, cache[name]?.exports),
  );
  if (file === undefined) return;
  const ofGraph = createRequire(file);
  const its = ofGraph('@langchain/core/messages') as typeof messages;
  if (copies.some((copy) => copy.messages.has(its.HumanMessage))) return;
  copies.push({
    ...(ofGraph('@langchain/core/load') as { readonly load: typeof load }),
    ...(ofGraph('@langchain/core/documents') as { readonly Document: typeof Document }),
    messages: new Set(Object.values(its)),
  });
}

const hasClassOf = (graph: object, exported: unknown): boolean =>
  Object.values(Object(exported) as object).some(
    (each) =>
      typeof each === 'function' &&
      Object.prototype.isPrototypeOf.call(Object(each.prototype) as object, graph),
  );

/** That loaded values are instances of. */
export const langChainInUse = (): LangChainCopy => copies.at(-1) as LangChainCopy;

export const isMessageClass = (made: unknown): boolean => copies.some((copy) => copy.messages.has(made));

export const isDocument = (value: object): value is Document =>
  copies.some((copy) => value instanceof copy.Document);

export const isDocumentPrototype = (prototype: unknown): boolean =>
  copies.some((copy) => copy.Document.prototype === prototype);
