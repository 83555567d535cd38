// @ts-nocheck
// What the engine does not have yet; deleted when it has.
const memo = new WeakMap();
export function wrapApp(app) {
  if (app.turns !== undefined) return app;
  if (memo.has(app)) return memo.get(app);
  const keys = new Map();
  const lastSeq = async (id) => {
    let last = 0;
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), 30);
    try {
      for await (const { seq } of app.stream(id, null, { streamMode: [], signal: stop.signal }))
        last = seq ?? last;
    } catch {}
    clearTimeout(timer);
    return last;
  };
  const wrapped = new Proxy(app, {
    get(target, name) {
      if (name === 'start')
        return async (id, input, { multitaskStrategy, ...o } = {}) => {
          await app.start(id, input, o);
          if (o.turn && !(keys.get(id) ?? []).includes(o.turn))
            keys.set(id, [...(keys.get(id) ?? []), o.turn]);
        };
      if (name === 'cancel') return (id, { by }) => app.cancel(id, { by });
      if (name === 'turns')
        return async (id) => {
          const run = await app.get(id);
          if (!run || run.reason === 'no input yet') return [];
          const all = keys.get(id) ?? [null];
          const last = await lastSeq(id);
          return all.map((turn, at) => ({
            turn,
            seq: 0,
            lastSeq: last,
            createdAt: run.createdAt,
            endedAt: run.endedAt,
            reason: run.reason,
            status: at === all.length - 1 ? run.status : 'completed',
          }));
        };
      const value = target[name];
      return typeof value === 'function' ? value.bind(app) : value;
    },
  });
  memo.set(app, wrapped);
  return wrapped;
}
