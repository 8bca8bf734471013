import type { Expected, ExpectedBody } from '../row.ts';

/** How a recorded answer is to be judged here. */
export type Judgement =
  /** Status and JSON body are the recorded ones, and the headers that matter. */
  | { readonly as: 'same' }
  /** Another answer is meant; `why` says in a sentence what decides it. */
  | { readonly as: 'differs'; readonly why: string; readonly expected: Expected }
  /** It needs a state that cannot be made from outside. */
  | { readonly as: 'setup'; readonly why: string };

/** Judgements by the recordings' names. */
export type Judgements = Readonly<Record<string, Judgement>>;

export const same: Judgement = { as: 'same' };

export const setup = (why: string): Judgement => ({ as: 'setup', why });

/** An error of ours in place of the recorded answer. */
export function refuses(why: string, status: number, code: number, message: RegExp): Judgement {
  return { as: 'differs', why, expected: { status, body: { kind: 'error', code, message } } };
}

/** An answer of ours that is no error, in place of the recorded one. */
export function answers(why: string, status: number, body: ExpectedBody): Judgement {
  return { as: 'differs', why, expected: { status, body } };
}
