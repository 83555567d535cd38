/** An event of the thread protocol, as it is sent. */
export interface ProtocolEvent {
  readonly type: 'event';
  /** The same event has the same id on every stream. */
  readonly event_id: string;
  /** Of the stored event that it is of, or the one before while that is incomplete. */
  readonly seq: number;
  readonly method: string;
  readonly params: {
    readonly namespace: readonly string[];
    /** Milliseconds since the Unix epoch. */
    readonly timestamp: number;
    readonly node?: string;
    readonly data: unknown;
  };
}

/** An event without its place in the stream. */
export interface UnplacedEvent {
  readonly method: string;
  readonly namespace: readonly string[];
  readonly data: unknown;
  readonly node?: string;
  /** @defaultValue made of its place */
  readonly id?: string;
}

/** A filter of a subscription. */
export interface EventFilter {
  readonly channels: ReadonlySet<string>;
  readonly namespaces?: readonly (readonly string[])[] | undefined;
  readonly depth?: number | undefined;
  readonly since?: number | undefined;
}

/** Places the events of one stored event: the last of them has its `seq`, so that a client that has that one has all. */
export function placeEvents(seq: number, events: readonly UnplacedEvent[]): readonly ProtocolEvent[] {
  const timestamp = Date.now();
  return events.map(({ id, method, namespace, node, data }, at) => {
    const isLast = at === events.length - 1;
    return {
      type: 'event',
      event_id: id ?? (isLast ? String(seq) : `${seq}.${at}`),
      seq: isLast ? seq : seq - 1,
      method,
      params: { namespace, timestamp, ...(node !== undefined && { node }), data },
    };
  });
}

/** Whether a subscription wants an event. */
export function matches({ channels, namespaces, depth }: EventFilter, event: ProtocolEvent): boolean {
  const channel = channelOf(event);
  const isAsked = channels.has(channel) || (channel.startsWith('custom:') && channels.has('custom'));
  if (!isAsked) return false;
  if (namespaces === undefined || namespaces.length === 0) return true;
  const { namespace } = event.params;
  return namespaces.some(
    (prefix) =>
      isBelow(namespace, prefix) && (depth === undefined || namespace.length - prefix.length <= depth),
  );
}

function channelOf({ method, params }: ProtocolEvent): string {
  if (method.startsWith('input.')) return 'input';
  const { name } = (method === 'custom' ? params.data : {}) as { readonly name?: unknown };
  return typeof name === 'string' ? `custom:${name}` : method;
}

/** A prefix without the id of a task stands for all tasks of that node. */
function isBelow(namespace: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((segment, at) => {
    const own = namespace[at];
    if (own === undefined || own === segment) return own === segment;
    return !segment.includes(':') && own.split(':', 1)[0] === segment;
  });
}
