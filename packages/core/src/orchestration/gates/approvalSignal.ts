import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import { comments } from '../../engine/gates/comments.ts';
import type { HitlApprovalSignal } from '../types.ts';

const approvalSignal = lateSchema(() =>
  z.strictObject({
    approved: z.boolean(),
    feedback: z.string().optional(),
    comments: comments().optional(),
    approvedBy: z.string().optional(),
    approvedAt: z.string().optional(),
  }),
);

/** The signal in a resume value, or `null` when it is none. */
export function parseApprovalSignal(value: unknown): HitlApprovalSignal | null {
  const parsed = approvalSignal().safeParse(value);
  return parsed.success ? (parsed.data as HitlApprovalSignal) : null;
}
