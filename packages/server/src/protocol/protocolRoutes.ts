import { Hono } from 'hono';
import type { Env, Served } from '../Served.ts';
export function protocolRoutes(_served: Served): Hono<Env> { return new Hono<Env>(); }
