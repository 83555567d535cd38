/** Whether something holds and, where it does not, why: one or two sentences for people and agents. */
export type Judgement = { readonly holds: true } | { readonly holds: false; readonly why: string };

export const holds: Judgement = { holds: true };

export const fails = (why: string): Judgement => ({ holds: false, why });
