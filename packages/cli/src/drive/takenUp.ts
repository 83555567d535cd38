export const TAKEN_UP = 'recorded; the process that runs it will apply the decision';
