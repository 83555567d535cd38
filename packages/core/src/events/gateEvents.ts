import type { EventName } from './events.ts';

/** Events about a gate that somebody outside may have to act on. They are read with a cursor; see `DurableApp.gateEvents`. */
export const GATE_EVENTS = [
  'HITL_SESSION_OPENED',
  'HITL_SESSION_DECIDED',
  'GATE_VOTED',
  'HITL_ANSWER_VOIDED',
  'HITL_ANSWER_REFUSED',
  'GATE_REMINDED',
  'GATE_REASSIGNED',
  'FAILURE_GATE_OPENED',
] as const satisfies readonly EventName[];

export type GateEventName = (typeof GATE_EVENTS)[number];

/** Events with a position among those of every run: about gates, and ends of runs of an app with webhooks. */
export type OutboxEventName = GateEventName | 'RUN_FINISHED';

/** All of them. */
export const OUTBOX_EVENTS: readonly OutboxEventName[] = [...GATE_EVENTS, 'RUN_FINISHED'];

export const isGateEvent = (name: EventName): name is GateEventName =>
  (GATE_EVENTS as readonly EventName[]).includes(name);
