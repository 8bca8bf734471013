/** Whether a record in a state has no access, or is switched off. An initial person gets access by a code. */
export function isClosed(state: string | undefined): boolean {
  return state !== undefined && state !== '' && !/_STATE_(?:ACTIVE|INITIAL)$/.test(state);
}
