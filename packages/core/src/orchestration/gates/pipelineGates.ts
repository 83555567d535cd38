import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import { APPROVAL_SHAPE, givenApproval, recordedApproval } from '../../engine/gates/answerForms.ts';
import type { GateRule, GateRules } from '../../engine/gates/answers.ts';
import { ENGINE_GATES } from '../../engine/gates/engineGates.ts';
import { scrub } from '../../masking/scrub.ts';
import { reviewGate } from '../review/reviewGate.ts';
import { documentSections, planSections } from './artifacts.ts';
import { baselineGate } from './baselineGate.ts';
import {
  assertEditFits,
  documentsEdit,
  planEdit,
  recordedDocumentsEdit,
  recordedPlanEdit,
} from './gateEdit.ts';

const design = {
  given: givenApproval,
  recorded: lateSchema(() => z.union([recordedApproval(), recordedDocumentsEdit()])),
  edit: documentsEdit,
  shape: `${APPROVAL_SHAPE}, or edit it with { action: 'edit', documents }`,
  policyName: 'design',
  places: documentSections,
  assertFits: assertEditFits,
} satisfies GateRule;

const dag = {
  given: givenApproval,
  recorded: lateSchema(() => z.union([recordedApproval(), recordedPlanEdit()])),
  edit: planEdit,
  shape: `${APPROVAL_SHAPE}, or edit it with { action: 'edit', plan }`,
  policyName: 'dag',
  places: planSections,
  assertFits: assertEditFits,
} satisfies GateRule;

/** What people write at the pipeline's gates enters its state, and its agents' prompts. */
function scrubbed<Rules extends GateRules>(rules: Rules): Rules {
  const all = Object.entries(rules).map(([kind, rule]) => [kind, { ...rule, scrub }]);
  return Object.fromEntries(all) as Rules;
}

/** Every kind of gate a run of the pipeline stops at. */
export const PIPELINE_GATES = scrubbed({
  ...ENGINE_GATES,
  design_approval: design,
  dag_approval: dag,
  review: reviewGate,
  baseline: baselineGate,
} satisfies Required<GateRules>);
