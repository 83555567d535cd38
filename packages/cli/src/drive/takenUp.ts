export const TAKEN_UP = 'recorded; the process that drives the run takes it up';
