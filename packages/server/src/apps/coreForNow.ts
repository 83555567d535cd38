// @ts-nocheck
// What the engine does not have yet; deleted when it has.
import { DevsError } from '@devs/core';
export const gateInterrupt = (gate) => ({ id: `${gate.sessionId}.${gate.artifactHash.slice(0, 16)}`, value: gate.kind === 'interrupt' ? gate.artifact : { action_requests: [{ name: gate.kind, args: { artifact: gate.artifact }, description: gate.message }], review_configs: [{ action_name: gate.kind, allowed_decisions: ['approve', 'reject'] }], action_request: { action: gate.kind, args: { artifact: gate.artifact } }, config: { allow_accept: true, allow_edit: false, allow_respond: true, allow_ignore: true }, description: gate.message } });
export function gateOfInterrupt(id, gates) {
  const gate = gates.find((each) => id.startsWith(`${each.sessionId}.`));
  if (gate === undefined) throw new DevsError('No open gate.', { code: 'GATE_NOT_FOUND', remedy: 'Read again.' });
  if (gateInterrupt(gate).id !== id) throw new DevsError('Stale.', { code: 'GATE_STALE', remedy: 'Read again.' });
  return gate;
}
export const gateRefusal = (gate) => (gate.kind === 'interrupt' ? null : { approved: false, feedback: 'Ignored.' });
export function resumeAnswer(gate, resume) {
  if (gate.kind === 'interrupt') return { value: resume };
  if (resume === true || resume?.decisions?.[0]?.type === 'approve' || resume?.[0]?.type === 'accept' || resume?.type === 'accept') return { approved: true };
  if (resume === false || resume?.decisions?.[0]?.type === 'reject') return { approved: false, feedback: resume?.decisions?.[0]?.message ?? 'Rejected.' };
  if (typeof resume === 'object' && resume !== null && ['approved', 'value', 'edit', 'action'].some((name) => name in resume)) return resume;
  throw new DevsError('This is no answer.', { code: 'INVALID_ANSWER', remedy: 'Answer.' });
}
const memo = new WeakMap();
export function wrapApp(app) {
  if (app.turns !== undefined) return app;
  if (memo.has(app)) return memo.get(app);
  const keys = new Map();
  const owners = new Map();
  const metas = new Map();
  const more = (run) => run && { ...run, owner: owners.get(run.id) ?? {}, metadata: { ...run.metadata, ...metas.get(run.id) } };
  const lastSeq = async (id) => {
    let last = 0;
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), 30);
    try { for await (const { seq } of app.stream(id, null, { streamMode: [], signal: stop.signal })) last = seq ?? last; } catch {}
    clearTimeout(timer);
    return last;
  };
  const wrapped = new Proxy(app, { get(target, name) {
    if (name === 'get') return async (id) => more(await app.get(id));
    if (name === 'create') return async (id, { owner, metadata, ...o }) => { if (!owners.has(id)) owners.set(id, owner); metas.set(id, metadata); return more(await app.create(id, o)); };
    if (name === 'list') return async ({ owner, metadata, ...f }) => { const p = await app.list(f); return { ...p, runs: p.runs.map(more).filter((r) => Object.entries(metadata ?? {}).every(([k, v]) => r.metadata[k] === v)) }; };
    if (name === 'updateMetadata') return async (id, patch) => { metas.set(id, { ...metas.get(id), ...patch }); return more(await app.get(id)); };
    if (name === 'start') return async (id, input, { owner, metadata, multitaskStrategy, ...o } = {}) => {
      await app.start(id, input, o);
      if (!owners.has(id)) owners.set(id, owner);
      metas.set(id, { ...metas.get(id), ...metadata });
      if (o.turn && !(keys.get(id) ?? []).includes(o.turn)) keys.set(id, [...(keys.get(id) ?? []), o.turn]);
    };
    if (name === 'cancel') return (id, { by }) => app.cancel(id, { by });
    if (name === 'turns') return async (id) => {
      const run = await app.get(id); if (!run || run.reason === 'no input yet') return [];
      const all = keys.get(id) ?? [null];
      const last = await lastSeq(id);
      return all.map((turn, at) => ({ turn, seq: 0, lastSeq: last, createdAt: run.createdAt, endedAt: run.endedAt, reason: run.reason, status: at === all.length - 1 ? run.status : 'completed' }));
    };
    if (name === 'stream') return async function* (id, input, { turn, overTurns, ...o }) {
      let skip = turn ? Math.max(0, (keys.get(id) ?? []).indexOf(turn)) : 0;
      if (o.after) skip = 0;
      for await (const event of app.stream(id, input, o)) { if (skip > 0) { if (event.mode === 'end') skip--; continue; } yield event; if (turn && event.mode === 'end') return; }
    };
    const value = target[name];
    return typeof value === 'function' ? value.bind(app) : value;
  } });
  memo.set(app, wrapped);
  return wrapped;
}
