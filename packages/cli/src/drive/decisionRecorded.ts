export const DECISION_RECORDED = 'recorded; the process that runs it will apply the decision';
