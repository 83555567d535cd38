import type { ListNamespacesOperation, MatchCondition } from '@langchain/langgraph-checkpoint';
import { LABEL_SEPARATOR } from '../../state/StoreItems.ts';

const ANY = '*';

/** The namespace that all namespaces of a listing are or lie in; `''` for any. */
export function commonNamespace({ matchConditions = [] }: ListNamespacesOperation): string {
  const { path = [] } = matchConditions.find(({ matchType }) => matchType === 'prefix') ?? {};
  const wildcard = path.indexOf(ANY);
  return path.slice(0, wildcard < 0 ? path.length : wildcard).join(LABEL_SEPARATOR);
}

/** The namespaces that a listing wants, in its order, cut to its depth. */
export function listedNamespaces(
  all: readonly string[],
  { matchConditions = [], maxDepth, limit, offset = 0 }: ListNamespacesOperation,
): string[][] {
  const wanted = all
    .map((namespace) => namespace.split(LABEL_SEPARATOR))
    .filter((labels) => matchConditions.every((condition) => isMatch(labels, condition)))
    .map((labels) => labels.slice(0, maxDepth).join(LABEL_SEPARATOR));
  return [...new Set(wanted)]
    .sort((a, b) => a.localeCompare(b))
    .slice(offset, limit === undefined ? undefined : offset + limit)
    .map((namespace) => namespace.split(LABEL_SEPARATOR));
}

function isMatch(labels: readonly string[], { matchType, path }: MatchCondition): boolean {
  if (path.length > labels.length) return false;
  const start = matchType === 'prefix' ? 0 : labels.length - path.length;
  return path.every((label, at) => label === ANY || label === labels[start + at]);
}
