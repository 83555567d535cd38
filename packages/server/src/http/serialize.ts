/** JSON as LangGraph's clients read it: a message is its own members with its `type`. */
export function serialize(value: unknown): string {
  return (
    JSON.stringify(
      value,
      function toPlain(this: Readonly<Record<string, unknown>>, key: string, given: unknown) {
        const raw = this[key];
        if (typeof raw === 'bigint') return raw.toString();
        return isMessage(raw) ? plainMessage(raw) : given;
      },
    ) ?? 'null'
  );
}

interface DictOwner {
  toDict(): { readonly type: string; readonly data: object };
}

/** By its method: an application may have a copy of LangChain of its own. */
const isMessage = (value: unknown): value is DictOwner =>
  typeof value === 'object' && value !== null && 'toDict' in value && typeof value.toDict === 'function';

function plainMessage(message: DictOwner): object {
  const { type, data } = message.toDict();
  return { ...data, type };
}

/** A value as its JSON has it. */
export const plain = (value: unknown): unknown => JSON.parse(serialize(value));

export function json(
  value: unknown,
  init: { readonly status?: number; readonly headers?: object } = {},
): Response {
  const headers = { 'content-type': 'application/json', ...init.headers };
  return new Response(serialize(value), { status: init.status ?? 200, headers });
}
